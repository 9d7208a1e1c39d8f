// Element types of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung {

// The element types. Those of 8 bits (base/float8.hpp) are what products may read; few ops have kernels for them.
enum class DType : uint8_t { f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, i64, i32, i8, u8, boolean };

size_t size_of(DType dtype);                              // bytes per element
std::string_view name_of(DType dtype);                    // "f32", ..., "bool"
std::optional<DType> dtype_named(std::string_view name);  // the inverse
inline bool is_float(DType d) { return d <= DType::f8e4m3fnuz; }
inline bool is_f8(DType d) { return d == DType::f8e4m3fn || d == DType::f8e4m3fnuz; }
// Returns whether values are stored in 8 bits by a scale that stands beside them.
inline bool is_quantised(DType d) { return is_f8(d) || d == DType::i8; }
inline bool is_narrow(DType d) { return d == DType::f16 || d == DType::bf16; }  // stored in 2 bytes, computed in f32

}  // namespace rung

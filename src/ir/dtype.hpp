// Element types of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung {

// The element types. The f8 types are reserved: they print and parse, no kernel uses them yet.
enum class DType : uint8_t { f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, i64, i32, i8, u8, boolean };

size_t size_of(DType dtype);                              // bytes per element
std::string_view name_of(DType dtype);                    // "f32", ..., "bool"
std::optional<DType> dtype_named(std::string_view name);  // the inverse
inline bool is_float(DType d) { return d <= DType::f8e4m3fnuz; }
inline bool is_narrow(DType d) { return d == DType::f16 || d == DType::bf16; }  // stored in 2 bytes, computed in f32

}  // namespace rung

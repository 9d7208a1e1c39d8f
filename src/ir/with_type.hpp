// Calls code with the C++ type of a dtype known at run time: the one switch over both.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "base/numeric.hpp"
#include "ir/dtype.hpp"

namespace rung {

// Returns whether the dtype has a C++ type; the reserved f8 types have none.
inline bool has_type(DType dtype) { return dtype != DType::f8e4m3fn && dtype != DType::f8e4m3fnuz; }

// Calls f with a value of the dtype's C++ type, for its type only. Wants has_type(dtype).
template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f16:
      return f(f16{});
    case DType::bf16:
      return f(bf16{});
    case DType::i64:
      return f(int64_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::i8:
      return f(int8_t{});
    case DType::u8:
      return f(uint8_t{});
    case DType::boolean:
      return f(bool{});
    default:
      break;
  }
  assert(false && "a reserved dtype");
  return f(uint8_t{});  // as wide: nothing outside is read if assertions are off
}

}  // namespace rung

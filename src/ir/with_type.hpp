// Calls code with the C++ type of a dtype known at run time: the one switch over both.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/float8.hpp"
#include "base/numeric.hpp"
#include "ir/dtype.hpp"

namespace rung {

// The C++ types of numbers that are stored in fewer bits than f32 has, and computed with as floats.
template <class T>
inline constexpr bool kStoredFloat =
    std::is_same_v<T, bf16> || std::is_same_v<T, f16> || std::is_same_v<T, f8e4m3fn> || std::is_same_v<T, f8e4m3fnuz>;

// Calls f with a value of the dtype's C++ type, for its type only.
template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f16:
      return f(f16{});
    case DType::bf16:
      return f(bf16{});
    case DType::f8e4m3fn:
      return f(f8e4m3fn{});
    case DType::f8e4m3fnuz:
      return f(f8e4m3fnuz{});
    case DType::i64:
      return f(int64_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::i8:
      return f(int8_t{});
    case DType::u8:
      return f(uint8_t{});
    case DType::boolean:
      break;
  }
  return f(bool{});
}

}  // namespace rung

// One element of any dtype, read and written by value: what the reference rows are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cassert>
#include <cmath>
#include <type_traits>

#include "base/numeric.hpp"
#include "ir/dtype.hpp"

namespace rung::cpu {

// Calls f with a value of the dtype's C++ type, for its type only. The reserved f8 types have none.
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
  assert(false && "f8 is reserved");
  return f(float{});
}

inline bool has_type(DType dtype) { return dtype != DType::f8e4m3fn && dtype != DType::f8e4m3fnuz; }

// As f32 for the float types.
inline float load_f32(const void* base, DType dtype, int64_t index) {
  return with_type(dtype, [&](auto tag) { return static_cast<float>(static_cast<const decltype(tag)*>(base)[index]); });
}
inline void store_f32(void* base, DType dtype, int64_t index, float value) {
  with_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, bool>)
      static_cast<T*>(base)[index] = value != 0.0f;
    else
      static_cast<T*>(base)[index] = static_cast<T>(value);
  });
}
// As i64 for the integer types and bool.
inline int64_t load_i64(const void* base, DType dtype, int64_t index) {
  return with_type(dtype, [&](auto tag) -> int64_t {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(static_cast<const T*>(base)[index]);
    return static_cast<int64_t>(static_cast<float>(static_cast<const T*>(base)[index]));
  });
}
inline void store_i64(void* base, DType dtype, int64_t index, int64_t value) {
  with_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, bool>)
      static_cast<T*>(base)[index] = value != 0;
    else if constexpr (std::is_integral_v<T>)
      static_cast<T*>(base)[index] = static_cast<T>(value);
    else
      static_cast<T*>(base)[index] = static_cast<T>(static_cast<float>(value));
  });
}

}  // namespace rung::cpu

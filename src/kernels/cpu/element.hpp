// One element of any dtype, read and written by value: what the reference rows are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/with_type.hpp"
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

// As f32 for the float types.
inline float load_f32(const void* base, DType dtype, int64_t index) {
  return with_type(dtype, [&](auto tag) { return static_cast<float>(static_cast<const decltype(tag)*>(base)[index]); });
}
// Numbers that lie `step` elements apart, as f32.
struct Line {
  const void* base;
  DType dtype;
  int64_t first, step;
  float operator[](int64_t i) const { return load_f32(base, dtype, first + i * step); }
};
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

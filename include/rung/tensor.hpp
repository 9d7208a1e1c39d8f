// Dtypes, ports and values of the C++ interface.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/rung.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rung::api {

// The type of a tensor's values.
enum class DType : uint8_t { f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, i64, i32, i8, u8, boolean };

// The dtypes of the C interface, indexed by DType.
inline constexpr rung_dtype kDTypes[] = {
    {RUNG_FLOAT, 32, 1},
    {RUNG_FLOAT, 16, 1},
    {RUNG_BFLOAT, 16, 1},
    {RUNG_FLOAT8_E4M3FN, 8, 1},
    {RUNG_FLOAT8_E4M3FNUZ, 8, 1},
    {RUNG_INT, 64, 1},
    {RUNG_INT, 32, 1},
    {RUNG_INT, 8, 1},
    {RUNG_UINT, 8, 1},
    {RUNG_BOOL, 8, 1},
};
constexpr rung_dtype to_c(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }
// Converts a dtype that the library gave.
constexpr DType from_c(rung_dtype dtype) {
  size_t index = 0;
  while (kDTypes[index].code != dtype.code || kDTypes[index].bits != dtype.bits) ++index;
  return static_cast<DType>(index);
}

// The dtype of a C++ type: float, bool, int8_t, uint8_t, int32_t or int64_t.
template <class T>
constexpr DType dtype_of() = delete;  // of a type that no tensor has: double, long long, unsigned ones but uint8_t
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}
// A C++ type that a tensor's values can have.
template <class T>
concept Element = requires {
  dtype_of<T>();
};

// A tensor that owns its row-major values. f16, bf16 and f8 have no type in C++20; they are given as bytes.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  // in elements
  std::vector<std::byte> bytes;

  // Makes a tensor with a copy of the values.
  template <Element T>
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    auto from = std::as_bytes(values);
    return {dtype_of<T>(), std::move(shape), {from.begin(), from.end()}};
  }
  // Returns a copy of the values, empty if the tensor is of another type.
  template <Element T>
  std::vector<T> values() const {
    std::vector<T> copy(dtype == dtype_of<T>() ? bytes.size() / sizeof(T) : 0);
    if constexpr (std::is_same_v<T, bool>) {
      for (size_t i = 0; i < copy.size(); ++i) copy[i] = bytes[i] != std::byte{0};
    } else if (!copy.empty()) {
      std::memcpy(copy.data(), bytes.data(), copy.size() * sizeof(T));
    }
    return copy;
  }
};
using Tensors = std::map<std::string, Tensor, std::less<>>;

// An input or an output, by the model's own name.
struct Port {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  // in elements
  size_t bytes = 0;
  bool required = true;  // an input without a default
};

// The place of a session's memory. On the processor both are the same.
enum class Place { host, device };

// Memory of a session's own, valid as long as the session.
struct Memory {
  void* data = nullptr;
  rung_device device{RUNG_CPU, 0};
  Port port;

  // Returns whether the host may read and write it.
  bool on_host() const { return device.type != RUNG_CUDA && device.type != RUNG_ROCM; }
  // Returns the values, empty if they are of another type, or on a device.
  template <Element T>
  std::span<T> values() const {
    if (port.dtype != dtype_of<T>() || !on_host()) return {};
    return {static_cast<T*>(data), port.bytes / sizeof(T)};
  }
};

}  // namespace rung::api

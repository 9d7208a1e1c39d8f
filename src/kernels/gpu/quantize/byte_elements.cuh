// Elements of 8 bits: their types, and their values in f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/quantize/eight_bits.cuh"

namespace rung::gpu {

template <> struct ElementOf<DType::i8> { using type = int8_t; };
template <> struct ElementOf<DType::f8e4m3fn> { using type = f8e4m3; };

// Returns four i8, of which the first one is lowest. A byte plus 128 is the low part of 2^23 plus that number.
__device__ inline float4 unpack_integers(uint32_t bytes) {
  const uint32_t above = bytes ^ 0x80808080u;
  const auto value = [&](int i) { return as_float((above >> 8 * i & 0xffu) | 0x4b000000u) - 8388736.0f; };
  return make_float4(value(0), value(1), value(2), value(3));
}

// T is int8_t or f8e4m3.
template <class T>
__device__ inline float4 unpack_bytes(uint32_t bytes) {
  if constexpr (std::is_same_v<T, int8_t>)
    return unpack_integers(bytes);
  else
    return unpack_4<T>(bytes);
}

// Rounds to the machine's e4m3 or i8 where that is the type, and stores as store_as() does otherwise.
__device__ inline bool is_e4m3(DType type) { return type == DType::f8e4m3fn || type == DType::f8e4m3fnuz; }
__device__ inline void store_as_float(uint64_t base, DType type, int64_t at, float x) {
  if (is_e4m3(type))
    element<uint8_t>(base, at) = static_cast<uint8_t>(pack_4<f8e4m3>(make_float4(x, 0, 0, 0)));
  else if (type == DType::i8)
    element<uint8_t>(base, at) = static_cast<uint8_t>(i8_bits(x));
  else
    store_as<float>(base, type, at, x);
}

}  // namespace rung::gpu

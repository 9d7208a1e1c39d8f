// Loads and stores of elements whose type is known only at run time, one at a time or eight neighbours together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Maps a dtype to the type of elements that kernels compute with.
template <DType dtype> struct ElementOf;
template <> struct ElementOf<DType::f32> { using type = float; };
template <> struct ElementOf<DType::bf16> { using type = bf16; };
template <> struct ElementOf<DType::f16> { using type = f16; };
template <> struct ElementOf<DType::i64> { using type = int64_t; };
template <DType dtype>
using Element = typename ElementOf<dtype>::type;

// Maps a number of bytes to the type that moves them at a time.
template <int bytes> struct UnitOf;
template <> struct UnitOf<1> { using type = uint8_t; };
template <> struct UnitOf<2> { using type = uint16_t; };
template <> struct UnitOf<4> { using type = uint32_t; };
template <> struct UnitOf<8> { using type = WordPair; };
template <> struct UnitOf<16> { using type = WordQuad; };
template <int bytes>
using Unit = typename UnitOf<bytes>::type;

template <class T>
__device__ inline T& element(uint64_t base, int64_t at) {
  return in_memory<T>(base)[at];
}

// T is float or int64_t. The bools of a caller's memory on the device are unchecked: any byte but 0 is true.
template <class T>
__device__ inline T load_as(uint64_t base, DType dtype, int64_t at) {
  switch (dtype) {
    case DType::f32: return static_cast<T>(element<const float>(base, at));
    case DType::f16: return static_cast<T>(to_float(element<const f16>(base, at)));
    case DType::bf16: return static_cast<T>(to_float(element<const bf16>(base, at)));
    case DType::i64: return static_cast<T>(element<const int64_t>(base, at));
    case DType::i32: return static_cast<T>(element<const int32_t>(base, at));
    case DType::i8: return static_cast<T>(element<const int8_t>(base, at));
    default: {  // u8, bool
      const uint8_t byte = element<const uint8_t>(base, at);
      return static_cast<T>(dtype == DType::boolean ? byte != 0 : byte);
    }
  }
}

// Stores integers wrapped to their width; floats become integers by truncation towards zero; a bool stores "not 0".
template <class T>
__device__ inline void store_as(uint64_t base, DType dtype, int64_t at, T value) {
  switch (dtype) {
    case DType::f32: element<float>(base, at) = static_cast<float>(value); break;
    case DType::f16: element<f16>(base, at) = from_float<f16>(static_cast<float>(value)); break;
    case DType::bf16: element<bf16>(base, at) = from_float<bf16>(static_cast<float>(value)); break;
    case DType::i64: element<int64_t>(base, at) = static_cast<int64_t>(value); break;
    case DType::i32: element<int32_t>(base, at) = static_cast<int32_t>(value); break;
    case DType::i8: element<int8_t>(base, at) = static_cast<int8_t>(static_cast<int64_t>(value)); break;
    case DType::boolean: element<uint8_t>(base, at) = value != T{}; break;
    default: element<uint8_t>(base, at) = static_cast<uint8_t>(static_cast<int64_t>(value));
  }
}

// ---- eight neighbours of type f32, f16, bf16 or bool; 16-byte aligned (bool: 8)

constexpr int kVector = 8;

// A vector as loaded from memory: only unpack() waits for it, so several loads can be under way together.
struct RawVector {
  uint4 low, high;
};

__device__ inline RawVector load_vector(uint64_t base, DType dtype, int64_t at) {
  RawVector raw{};
  if (dtype == DType::f32) {
    raw.low = element<const uint4>(base, at / 4), raw.high = element<const uint4>(base, at / 4 + 1);
  } else if (dtype == DType::boolean) {
    const auto flags = element<const uint2>(base, at / kVector);
    raw.low.x = flags.x, raw.low.y = flags.y;
  } else {
    raw.low = element<const uint4>(base, at / kVector);
  }
  return raw;
}

// Unpacks a word of two 16-bit floats.
__device__ inline void unpack_pair(uint32_t word, DType dtype, float* out) {
  if (dtype == DType::bf16)
    out[0] = as_float(word << 16), out[1] = as_float(word & 0xffff0000u);
  else
    out[0] = f16_bits_to_float(word & 0xffffu), out[1] = f16_bits_to_float(word >> 16);
}

// Returns 1 in each byte that is not 0.
__device__ inline uint32_t truths_of(uint32_t bytes) {
  constexpr uint32_t kAllButTop = 0x7f7f7f7fu;
  return (((bytes & kAllButTop) + kAllButTop | bytes) >> 7) & 0x01010101u;
}

__device__ inline void unpack(const RawVector& raw, DType dtype, float (&out)[kVector]) {
  if (dtype == DType::f32) {
    const uint32_t words[] = {raw.low.x,  raw.low.y,  raw.low.z,  raw.low.w,
                              raw.high.x, raw.high.y, raw.high.z, raw.high.w};
#pragma unroll
    for (int i = 0; i < kVector; ++i) out[i] = as_float(words[i]);
  } else if (dtype == DType::boolean) {
    const uint32_t truths[] = {truths_of(raw.low.x), truths_of(raw.low.y)};
#pragma unroll
    for (int i = 0; i < kVector; ++i) out[i] = static_cast<float>(truths[i / 4] >> i % 4 * 8 & 1u);
  } else {
    unpack_pair(raw.low.x, dtype, out), unpack_pair(raw.low.y, dtype, out + 2);
    unpack_pair(raw.low.z, dtype, out + 4), unpack_pair(raw.low.w, dtype, out + 6);
  }
}

template <class T>
__device__ inline uint4 pack_vector(const float (&x)[kVector]) {
  return make_uint4(pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]), pack<T>(x[6], x[7]));
}

__device__ inline void store_vector(uint64_t base, DType dtype, int64_t at, const float (&x)[kVector]) {
  if (dtype == DType::f32) {
    element<float4>(base, at / 4) = make_float4(x[0], x[1], x[2], x[3]);
    element<float4>(base, at / 4 + 1) = make_float4(x[4], x[5], x[6], x[7]);
  } else if (dtype == DType::boolean) {
    uint2 flags{};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      flags.x |= static_cast<uint32_t>(x[i] != 0) << i * 8;
      flags.y |= static_cast<uint32_t>(x[i + 4] != 0) << i * 8;
    }
    element<uint2>(base, at / kVector) = flags;
  } else {
    element<uint4>(base, at / kVector) = dtype == DType::bf16 ? pack_vector<bf16>(x) : pack_vector<f16>(x);
  }
}

}  // namespace rung::gpu

// Hopper's stores of eight neighbours of an attention's result: rows of sums are packed in pairs before lanes exchange
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_result.cuh"

namespace rung::gpu {

// Returns two neighbours, the first one lowest; those of 8 bits are in the word's lower half.
template <DType type>
__device__ inline uint32_t pack_two(float x, float y) {
  if constexpr (type == DType::i8)
    return i8_bits(x) | i8_bits(y) << 8;
  else if constexpr (type == DType::f8e4m3fn)
    return f8_pair<f8e4m3>(x, y);
  else
    return pack<Element<type>>(x, y);
}

// Transposes words over four neighbouring lanes: word[i] of lane j becomes word[j] of lane i.
__device__ inline void transpose_4(uint32_t (&word)[4]) {
  auto exchange = [](uint32_t& low, uint32_t& high, int step) {
    const bool upper = lane() & step;
    const uint32_t x = shuffle_xor(upper ? low : high, step);
    low = upper ? x : low, high = upper ? high : x;
  };
  exchange(word[0], word[1], 1), exchange(word[2], word[3], 1);
  exchange(word[0], word[2], 2), exchange(word[1], word[3], 2);
}

// Stores eight neighbours that pack_two() made.
template <DType type>
__device__ inline void store_eight(Element<type>* to, const uint32_t (&two)[4]) {
  if constexpr (sizeof(Element<type>) == 2)
    *reinterpret_cast<uint4*>(to) = make_uint4(two[0], two[1], two[2], two[3]);
  else
    *reinterpret_cast<uint2*>(to) = make_uint2(two[0] | two[1] << 16, two[2] | two[3] << 16);
}

}  // namespace rung::gpu

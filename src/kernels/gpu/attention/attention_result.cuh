// The stores of attention kernels whose results may have 8 bits. A kernel is compiled for one type of q; what the
// result is, all threads know alike, and ask where they store it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/quantize/byte_elements.cuh"
#include "kernels/gpu/quantize/eight_bits.cuh"

namespace rung::gpu {

template <DType type>
struct ResultType {
  static constexpr DType value = type;
};

// Calls store() with the ResultType of the attention; f8e4m3fn stands for the machine's e4m3.
template <DType of_q, class Store>
__device__ inline void by_result_type(const AttentionArguments& a, Store store) {
  if (a.out_type == of_q)
    store(ResultType<of_q>{});
  else if (a.out_type == DType::i8)
    store(ResultType<DType::i8>{});
  else
    store(ResultType<DType::f8e4m3fn>{});
}

// Stores one value, or four neighbours of a type of 16 or 8 bits.
template <DType type>
__device__ inline void store_one(Element<type>* to, float x) {
  if constexpr (sizeof(Element<type>) > 1) {
    *to = from_float<Element<type>>(x);
  } else {
    uint32_t bits[1];
    pack_eight_bits<type == DType::i8>(bits, {x});
    *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(bits[0]);
  }
}
template <DType type>
__device__ inline void store_four(Element<type>* to, float4 x) {
  if constexpr (sizeof(Element<type>) > 1) {
    *reinterpret_cast<uint2*>(to) = make_uint2(pack<Element<type>>(x.x, x.y), pack<Element<type>>(x.z, x.w));
  } else {
    uint32_t word[1];
    pack_eight_bits<type == DType::i8>(word, {x.x, x.y, x.z, x.w});
    *reinterpret_cast<uint32_t*>(to) = word[0];
  }
}

// Stores four columns of a row, from the sums of its values and of their weights.
template <DType of_q>
__device__ inline void store_result(const AttentionRows& rows, int row, int d, float4 sum, const Running& total) {
  const float factor = inverse_of_sum(total.sum) * rows.a.factor;
  by_result_type<of_q>(rows.a, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    store_four<kType>(rows.out<Element<kType>>(row) + d,
                      make_float4(sum.x * factor, sum.y * factor, sum.z * factor, sum.w * factor));
  });
}

}  // namespace rung::gpu

// RMSNorm and LayerNorm of dense rows: types are known at compile time, and weights are loaded before producers end.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/norm/norm_rows_arguments.hpp"
#include "kernels/gpu/quantize/eight_bits.cuh"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

template <class T>
struct alignas(sizeof(T) * kNormRowsPerThread > 16 ? 16 : sizeof(T) * kNormRowsPerThread) Run {
  T at[kNormRowsPerThread];
};

template <class T>
__device__ void load(float (&to)[kNormRowsPerThread], const void* from, int64_t index) {
  const Run<T> run = *reinterpret_cast<const Run<T>*>(static_cast<const T*>(from) + index);
#pragma unroll
  for (int i = 0; i < kNormRowsPerThread; ++i) to[i] = to_float(run.at[i]);
}

template <class T>
__device__ void store(void* to, int64_t index, const float (&x)[kNormRowsPerThread]) {
  Run<T> run;
#pragma unroll
  for (int i = 0; i < kNormRowsPerThread; ++i) run.at[i] = from_float<T>(x[i]);
  *reinterpret_cast<Run<T>*>(static_cast<T*>(to) + index) = run;
}
__device__ void store_eight_bits(const NormRowsArguments& a, int64_t index, const float (&x)[kNormRowsPerThread]) {
  uint32_t words[kNormRowsPerThread / 4];
  if (a.to_i8)
    pack_eight_bits<true>(words, x);
  else
    pack_eight_bits<false>(words, x);
  *reinterpret_cast<uint2*>(static_cast<uint8_t*>(a.out) + index) = make_uint2(words[0], words[1]);
}

template <NormRowsConfig config>
__device__ void norm_row(const NormRowsArguments& a) {
  using X = Element<config.x>;
  using W = Element<config.weight>;
  constexpr bool kLayer = config.kind == NormRowsKind::layer;
  __shared__ float partial[2][kMaxWarps];
  const int column = static_cast<int>(threadIdx.x) * kNormRowsPerThread;
  const bool inside = column < a.width;
  float x[kNormRowsPerThread] = {}, weight[kNormRowsPerThread] = {}, bias[kNormRowsPerThread] = {};
  allow_dependents();
  if (inside) {
    load<W>(weight, a.weight, column);
    if (kLayer) load<W>(bias, a.bias, column);
  }
  wait_for_producers();
  if (inside) load<X>(x, a.x, int64_t{blockIdx.x} * a.width + column);
  const float share = 1.0f / static_cast<float>(a.width);
  if (kLayer) {
    float sum = 0;
#pragma unroll
    for (float value : x) sum += value;
    const float mean = reduce_block(sum, Sum{}, partial[0]) * share;
#pragma unroll
    for (float& value : x) value = inside ? value - mean : 0.0f;
  }
  float squares = 0;
#pragma unroll
  for (float value : x) squares += value * value;
  const float scale = rsqrtf(reduce_block(squares, Sum{}, partial[1]) * share + a.eps);
  if (!inside) return;
#pragma unroll
  for (int i = 0; i < kNormRowsPerThread; ++i)
    x[i] = kLayer ? x[i] * scale * weight[i] + bias[i] : x[i] * scale * (a.weight_offset + weight[i]);
  const int64_t at = int64_t{blockIdx.x} * a.width + column;
  if constexpr (config.out == DType::f8e4m3fn)
    store_eight_bits(a, at, x);
  else
    store<Element<config.out>>(a.out, at, x);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kNormRowsMostThreads) entry(NormRowsArguments a) { norm_row<NormRowsConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/norm/norm_rows.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu

// Rotary embedding: a thread rotates one pair of elements, or eight pairs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/pointwise/rope_arguments.hpp"

namespace rung::gpu {
namespace {

// Reads elements begin, begin + step, ...; with step 1 they are aligned.
template <int V>
__device__ void read(const RopeArguments& a, int operand, int64_t begin, float (&out)[V]) {
  if constexpr (V == kVector) {
    if (a.step[operand] == 1) return unpack(load_vector(a.base[operand], a.type[operand], begin), a.type[operand], out);
  }
#pragma unroll
  for (int i = 0; i < V; ++i)
    out[i] = load_as<float>(a.base[operand], a.type[operand], begin + i * a.step[operand]);
}

template <int V>
__device__ void write(const RopeArguments& a, int64_t begin, const float (&x)[V]) {
  if constexpr (V == kVector)
    store_vector(a.base[3], a.type[3], begin, x);
  else
    store_as<float>(a.base[3], a.type[3], begin, x[0]);
}

template <int V>
__device__ void rotate(const RopeArguments& a) {
  allow_dependents();
  const uint32_t position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= a.nest.count) return;
  int64_t begin[4] = {};
  a.nest.locate(position, begin);
  wait_for_producers();
  float low[3][V], high[3][V], out_low[V], out_high[V];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    read<V>(a, i, begin[i], low[i]);
    read<V>(a, i, begin[i] + a.partner[i], high[i]);
  }
#pragma unroll
  for (int i = 0; i < V; ++i) {
    out_low[i] = low[0][i] * low[1][i] - high[0][i] * low[2][i];
    out_high[i] = high[0][i] * high[1][i] + low[0][i] * high[2][i];
  }
  write<V>(a, begin[3], out_low);
  write<V>(a, begin[3] + a.partner[3], out_high);
}

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL(128) rope(const __grid_constant__ rung::gpu::RopeArguments a) { rung::gpu::rotate<1>(a); }
RUNG_KERNEL(128) rope_vector(const __grid_constant__ rung::gpu::RopeArguments a) {
  rung::gpu::rotate<rung::gpu::kVector>(a);
}

// The gated product of two halves of a row; a thread has eight neighbouring columns.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/pointwise/gated_rows_arguments.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {
namespace {

constexpr int kPerThread = 8;

// Eight neighbouring elements; `aligned`: their address is a multiple of their size.
template <class T>
struct alignas(sizeof(T) * kPerThread) Eight {
  T at[kPerThread];
};

template <class T>
__device__ void load(float (&to)[kPerThread], const T* from, int count, bool aligned) {
  if (aligned && count == kPerThread) {
    Eight<T> all = *reinterpret_cast<const Eight<T>*>(from);
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) to[i] = to_float(all.at[i]);
  } else {
    for (int i = 0; i < kPerThread; ++i) to[i] = i < count ? to_float(from[i]) : 0.0f;
  }
}

template <class T>
__device__ void run(const GatedRowsArguments& a) {
  int64_t row = blockIdx.y, column = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kPerThread;
  if (column >= a.columns) return;
  int count = static_cast<int>(min(int64_t{kPerThread}, a.columns - column));
  bool aligned = a.columns % kPerThread == 0;
  const T* halves = static_cast<const T*>(a.halves) + row * 2 * a.columns + column;
  float gate[kPerThread], up[kPerThread], residual[kPerThread] = {};
  load(gate, halves, count, aligned);
  load(up, halves + a.columns, count, aligned);
  if (a.residual)
    load(residual, static_cast<const T*>(a.residual) + row * a.residual_stride + column, count,
         a.residual_stride % kPerThread == 0 && aligned);
  T* out = static_cast<T*>(a.out) + row * a.columns + column;
  Eight<T> result;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
    result.at[i] = from_float<T>(activate(a.activation, gate[i]) * up[i] + residual[i]);
  if (aligned)
    *reinterpret_cast<Eight<T>*>(out) = result;
  else
    store_first(out, result.at, count);
}

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL() gated_rows(rung::gpu::GatedRowsArguments a) {
  rung::gpu::wait_for_producers();
  rung::gpu::allow_dependents();
  switch (a.type) {
    case 0: return rung::gpu::run<float>(a);
    case 1: return rung::gpu::run<rung::gpu::bf16>(a);
    default: return rung::gpu::run<rung::gpu::f16>(a);
  }
}

// Pooling over up to three axes, with one thread per result or per eight neighbouring channels of results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/reductions.cuh"
#include "kernels/gpu/windows/pool_arguments.hpp"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {
namespace {

// The window's state: what is known after some of its elements.
struct Pooled {
  float value;
  uint32_t seen = 0;
  int64_t place = 0;  // of the first largest
};

__device__ void add(Pooled& pooled, ReduceKind kind, float x, int64_t place) {
  if (kind != ReduceKind::max) {
    pooled.value += x;
  } else if (pooled.seen == 0 || (pooled.value == pooled.value && !(x <= pooled.value))) {  // NaN stays
    pooled.value = x, pooled.place = place;
  }
  ++pooled.seen;
}

__device__ Pooled pool_window(const PoolArguments& a, const ResultPlace& at) {
  Pooled pooled{.value = a.kind == ReduceKind::max ? -INFINITY : 0.0f};
  const int64_t x = at.batch * a.x_batch + at.channel * a.x_channel;
  for (int32_t i = 0; i < a.axes[0].taps; ++i)
    for (int32_t j = 0; j < a.axes[1].taps; ++j)
      for (int32_t k = 0; k < a.axes[2].taps; ++k) {
        const int32_t of[] = {seen(a.axes[0], false, at.at[0], i), seen(a.axes[1], false, at.at[1], j),
                              seen(a.axes[2], false, at.at[2], k)};
        if (of[0] < 0 || of[1] < 0 || of[2] < 0) continue;
        const int64_t from = x + of[0] * a.axes[0].x_stride + of[1] * a.axes[1].x_stride + of[2] * a.axes[2].x_stride;
        const int64_t plane = static_cast<int64_t>(of[0]) * a.axes[1].extent + of[1];
        add(pooled, a.kind, load_as<float>(a.x, a.x_type, from), plane * a.axes[2].extent + of[2]);
      }
  if (a.kind == ReduceKind::mean) pooled.value /= static_cast<float>(pooled.seen);
  return pooled;
}

// A tap of a window: its place along each axis, the last one of which moves first.
struct Tap {
  int32_t at[kWindowAxes] = {};
  __device__ void move(const WindowAxis* axes) {
    if (++at[2] < axes[2].taps) return;
    at[2] = 0;
    if (++at[1] == axes[1].taps) at[1] = 0, ++at[0];
  }
};

// The windows of eight neighbouring channels; several loads are under way together.
struct PooledVector {
  float values[kVector];
  uint32_t seen_taps = 0;

  __device__ explicit PooledVector(ReduceKind kind) {
#pragma unroll
    for (float& value : values) value = kind == ReduceKind::max ? -INFINITY : 0.0f;
  }
  __device__ void add(const PoolArguments& a, const ResultPlace& place) {
    constexpr int kAtOnce = 9;  // the window of three by three
    const int64_t x = place.batch * a.x_batch + int64_t{place.channel} * kVector;
    const int32_t taps = a.axes[0].taps * a.axes[1].taps * a.axes[2].taps;
    Tap tap;
    for (int32_t begin = 0; begin < taps; begin += kAtOnce) {
      RawVector held[kAtOnce];
      bool has[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i, tap.move(a.axes)) {
        int64_t from = x;
        has[i] = begin + i < taps;
#pragma unroll
        for (int axis = 0; axis < kWindowAxes; ++axis) {
          const int32_t at = seen(a.axes[axis], false, place.at[axis], tap.at[axis]);
          has[i] = has[i] && at >= 0, from += at * a.axes[axis].x_stride;
        }
        if (has[i]) held[i] = load_vector(a.x, a.x_type, from);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        if (has[i]) add(a, held[i]);
    }
  }
  __device__ void add(const PoolArguments& a, const RawVector& raw) {
    float more[kVector];
    unpack(raw, a.x_type, more);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      values[i] = a.kind == ReduceKind::max ? Max{}(values[i], more[i]) : values[i] + more[i];
    ++seen_taps;
  }
};

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL(rung::gpu::kPoolThreads) pool_vectors(const __grid_constant__ rung::gpu::PoolArguments a) {
  using namespace rung::gpu;
  allow_dependents();
  const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= a.count / kVector) return;
  const ResultPlace place = place_of_result(a.axes, a.channels / kVector, index);
  wait_for_producers();
  PooledVector pooled(a.kind);
  pooled.add(a, place);
  if (a.kind == rung::ReduceKind::mean)
    for (float& value : pooled.values) value /= static_cast<float>(pooled.seen_taps);
  store_vector(a.out, a.out_type, int64_t{index} * kVector, pooled.values);
}

RUNG_KERNEL() pool_windows(const __grid_constant__ rung::gpu::PoolArguments a) {
  using namespace rung::gpu;
  allow_dependents();
  const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= a.count) return;
  const ResultPlace at = place_of_result(a.axes, a.channels, index);
  wait_for_producers();
  const Pooled pooled = pool_window(a, at);
  store_as<float>(a.out, a.out_type, index, pooled.value);
  if (a.places) element<int64_t>(a.places, index) = pooled.place;
}

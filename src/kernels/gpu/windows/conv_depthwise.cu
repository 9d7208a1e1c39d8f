// Convolutions whose channels do not mix: a thread reads each row of weights once for a run of neighbouring results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise.hpp"
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {
namespace {

template <int run>
struct Depthwise {
  const DepthwiseArguments& a;
  uint32_t channel, first;  // the first of its channels, and of its results along the last axis
  ResultPlace place;        // of the run; its last axis counts runs
  float sums[run][kVector] = {};

  __device__ Depthwise(const DepthwiseArguments& arguments, uint32_t index) : a(arguments) {
    const uint32_t vectors = a.channels / kVector;
    channel = index % vectors * kVector, index /= vectors;
    first = index % a.runs * run, index /= a.runs;
    for (int axis = kWindowAxes - 2; axis >= 0; --axis) {
      const auto results = static_cast<uint32_t>(a.axes[axis].results);
      place.at[axis] = static_cast<int32_t>(index % results), index /= results;
    }
    place.batch = index;
  }

  // Adds the products of a row of taps, at the row of x from element `x` on.
  __device__ void add_row(int64_t x, uint32_t tap) {
    const WindowAxis& axis = a.axes[kWindowAxes - 1];
    for (int32_t k = 0; k < axis.taps; ++k) {
      float w[kVector];
      unpack(load_vector(a.w, DType::f32, int64_t{tap + k} * a.channels + channel), DType::f32, w);
      RawVector raw[run];
#pragma unroll
      for (int r = 0; r < run; ++r) {
        const int32_t at = seen(axis, false, static_cast<int32_t>(first) + r, k);
        raw[r] = at < 0 ? RawVector{} : load_vector(a.x, a.x_type, x + at * axis.x_stride);
      }
#pragma unroll
      for (int r = 0; r < run; ++r) {
        float values[kVector];
        unpack(raw[r], a.x_type, values);
#pragma unroll
        for (int i = 0; i < kVector; ++i) sums[r][i] = fmaf(values[i], w[i], sums[r][i]);
      }
    }
  }

  __device__ void add_window() {
    uint32_t tap = 0;
    for (int32_t i = 0; i < a.axes[0].taps; ++i)
      for (int32_t j = 0; j < a.axes[1].taps; ++j, tap += a.axes[2].taps) {
        const int32_t at[] = {seen(a.axes[0], false, place.at[0], i), seen(a.axes[1], false, place.at[1], j)};
        if (at[0] < 0 || at[1] < 0) continue;
        add_row(place.batch * a.x_batch + at[0] * a.axes[0].x_stride + at[1] * a.axes[1].x_stride + channel, tap);
      }
  }

  __device__ void store() {
    const auto results = static_cast<uint32_t>(a.axes[kWindowAxes - 1].results);
    int64_t row = place.batch;
    for (int axis = 0; axis < kWindowAxes - 1; ++axis) row = row * a.axes[axis].results + place.at[axis];
#pragma unroll
    for (int r = 0; r < run; ++r)
      if (first + r < results) finish(a.end, (row * results + first + r) * a.channels + channel, channel, sums[r]);
  }
};

template <DepthwiseConfig config>
__device__ void conv_depthwise(const DepthwiseArguments& a) {
  const uint32_t index = blockIdx.x * kDepthwiseThreads + threadIdx.x;
  allow_dependents();
  if (index >= a.count) return;
  Depthwise<config.run> work(a, index);
  wait_for_producers();
  work.add_window();
  work.store();
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kDepthwiseThreads) \
  entry(const __grid_constant__ DepthwiseArguments a) { conv_depthwise<DepthwiseConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/windows/conv_depthwise.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu

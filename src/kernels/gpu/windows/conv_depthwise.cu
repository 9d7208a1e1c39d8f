// Convolutions whose channels do not mix: a thread reads each row of weights once for a run of neighbouring results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise.hpp"
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {
namespace {

// A thread's channels: as many as a vector has, or one.
template <int channels>
struct Channels {
  RawVector raw{};
  __device__ void load(uint64_t base, DType type, int64_t at) { raw = load_vector(base, type, at); }
  __device__ void unpack_to(DType type, float (&to)[kVector]) const { unpack(raw, type, to); }
};
template <>
struct Channels<1> {
  float value = 0;
  __device__ void load(uint64_t base, DType type, int64_t at) { value = load_as<float>(base, type, at); }
  __device__ void unpack_to(DType, float (&to)[1]) const { to[0] = value; }
};

template <DepthwiseConfig config>
struct Depthwise {
  static constexpr int kChannels = config.channels, kRun = config.run;

  const DepthwiseArguments& a;
  uint32_t channel, first;  // the first of its channels, and of its results along the last axis
  ResultPlace place;        // of the run; its last axis counts runs
  float sums[kRun][kChannels] = {};

  __device__ Depthwise(const DepthwiseArguments& arguments, uint32_t index) : a(arguments) {
    const uint32_t vectors = a.channels / kChannels;
    channel = index % vectors * kChannels, index /= vectors;
    first = index % a.runs * kRun, index /= a.runs;
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
      Channels<kChannels> weights, seen_by[kRun];
      weights.load(a.w, DType::f32, int64_t{tap + k} * a.channels + channel);
#pragma unroll
      for (int r = 0; r < kRun; ++r)
        if (const int32_t at = seen(axis, false, static_cast<int32_t>(first) + r, k); at >= 0)
          seen_by[r].load(a.x, a.x_type, x + at * axis.x_stride);
      float w[kChannels];
      weights.unpack_to(DType::f32, w);
#pragma unroll
      for (int r = 0; r < kRun; ++r) {
        float values[kChannels];
        seen_by[r].unpack_to(a.x_type, values);
#pragma unroll
        for (int i = 0; i < kChannels; ++i) sums[r][i] = fmaf(values[i], w[i], sums[r][i]);
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

  __device__ void end(int64_t index, float (&y)[kVector]) const { finish(a.end, index, channel, y); }
  __device__ void end(int64_t index, float (&y)[1]) const { finish(a.end, index, channel, y[0]); }
  __device__ void store() {
    const auto results = static_cast<uint32_t>(a.axes[kWindowAxes - 1].results);
    int64_t row = place.batch;
    for (int axis = 0; axis < kWindowAxes - 1; ++axis) row = row * a.axes[axis].results + place.at[axis];
#pragma unroll
    for (int r = 0; r < kRun; ++r)
      if (first + r < results) end((row * results + first + r) * a.channels + channel, sums[r]);
  }
};

template <DepthwiseConfig config>
__device__ void conv_depthwise(const DepthwiseArguments& a) {
  const uint32_t index = blockIdx.x * kDepthwiseThreads + threadIdx.x;
  allow_dependents();
  if (index >= a.count) return;
  Depthwise<config> work(a, index);
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

// Convolution over up to three axes, with one thread per result, for what has no tiles.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_arguments.hpp"
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {
namespace {

__device__ float products(const ConvArguments& a, int64_t x, int64_t w) {
  float sum = 0;
  for (uint32_t c = 0; c < a.channels; ++c)
    sum += load_as<float>(a.x, a.x_type, x + c * a.x_channel) * load_as<float>(a.w, a.w_type, w + c * a.w_channel);
  return sum;
}

__device__ float window_sum(const ConvArguments& a, const ResultPlace& place) {
  const int64_t x = place.batch * a.x_batch + place.channel / a.rows_of_group * a.channels * a.x_channel;
  const int64_t w = place.channel * a.w_row;
  float sum = 0;
  for (int32_t i = 0; i < a.axes[0].taps; ++i)
    for (int32_t j = 0; j < a.axes[1].taps; ++j)
      for (int32_t k = 0; k < a.axes[2].taps; ++k) {
        const int32_t at[] = {seen(a.axes[0], a.transposed, place.at[0], i),
                              seen(a.axes[1], a.transposed, place.at[1], j),
                              seen(a.axes[2], a.transposed, place.at[2], k)};
        if (at[0] < 0 || at[1] < 0 || at[2] < 0) continue;
        sum += products(a, x + at[0] * a.axes[0].x_stride + at[1] * a.axes[1].x_stride + at[2] * a.axes[2].x_stride,
                        w + i * a.axes[0].w_stride + j * a.axes[1].w_stride + k * a.axes[2].w_stride);
      }
  return sum;
}

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL() conv_windows(const __grid_constant__ rung::gpu::ConvArguments a) {
  using namespace rung::gpu;
  allow_dependents();
  const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= a.count) return;
  const ResultPlace place = place_of_result(a.axes, a.rows, index);
  wait_for_producers();
  finish(a.end, index, place.channel, window_sum(a, place));
}

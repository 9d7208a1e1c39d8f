// Convolution without padding, with one thread per result, for the rare convolution that no pass turns into a product.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/conv2d_arguments.hpp"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

__device__ float window_sum(const Conv2dArguments& a, int64_t x, int64_t w) {
  float sum = 0;
  for (uint32_t c = 0; c < a.channels; ++c)
    for (uint32_t i = 0; i < a.height; ++i)
      for (uint32_t j = 0; j < a.width; ++j)
        sum += load_as<float>(a.x, a.x_type, x + c * a.x_strides[1] + i * a.x_strides[2] + j * a.x_strides[3]) *
               load_as<float>(a.w, a.w_type, w + c * a.w_strides[1] + i * a.w_strides[2] + j * a.w_strides[3]);
  return sum;
}

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL() conv2d(const __grid_constant__ rung::gpu::Conv2dArguments a) {
  using namespace rung::gpu;
  allow_dependents();
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.count) return;
  const uint32_t column = at % a.out_width, row = at / a.out_width % a.out_height;
  const uint32_t plane = at / (a.out_width * a.out_height), channel = plane % a.out_channels;
  const int64_t x = plane / a.out_channels * a.x_strides[0] + row * a.stride * a.x_strides[2] +
                    column * a.stride * a.x_strides[3];
  wait_for_producers();
  const float sum = window_sum(a, x, channel * a.w_strides[0]);
  store_as<float>(a.out, a.out_type, at, sum + load_as<float>(a.bias, a.bias_type, channel * a.bias_stride));
}

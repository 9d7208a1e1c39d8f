// The row of conv2d.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/conv2d_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  return supports_count(p.output.shape);
}

uint32_t size(int64_t n) { return static_cast<uint32_t>(n); }

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Shape &y = p.output.shape, &w = p.inputs[1].shape;
  if (y.product() == 0) return {};
  Conv2dArguments a{.x = call.inputs[0], .w = call.inputs[1], .bias = call.inputs[2], .out = call.output};
  std::copy(p.inputs[0].strides.begin(), p.inputs[0].strides.end(), a.x_strides);
  std::copy(p.inputs[1].strides.begin(), p.inputs[1].strides.end(), a.w_strides);
  a.bias_stride = p.inputs[2].strides[0];
  a.channels = size(w[1]), a.height = size(w[2]), a.width = size(w[3]);
  a.out_channels = size(y[1]), a.out_height = size(y[2]), a.out_width = size(y[3]), a.count = size(y.product());
  a.stride = size(p.as<Conv2d>().stride);
  a.x_type = p.inputs[0].dtype, a.w_type = p.inputs[1].dtype;
  a.bias_type = p.inputs[2].dtype, a.out_type = p.output.dtype;
  return call.launch("conv2d", "conv2d", launch_threads(call, a.count, 128), a);
}

}  // namespace

extern const Kernel conv2d_gpu{.name = "conv2d_gpu", .op = "conv2d", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

// The row of conv that takes every one, for what has no tiles and no pass turns into products.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/windows/conv_arguments.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& p, const Machine&) { return supports_conv(p); }

uint32_t size(int64_t n) { return static_cast<uint32_t>(n); }

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Conv& op = p.as<Conv>();
  const Shape& y = p.output.shape;
  if (y.product() == 0) return {};
  ConvArguments a{.x = call.inputs[0], .w = call.inputs[1], .end = conv_end_of(call)};
  place_windows(p, a.axes);
  a.x_batch = p.inputs[0].strides[0], a.x_channel = p.inputs[0].strides.back();
  a.w_row = p.inputs[1].strides[0], a.w_channel = p.inputs[1].strides.back();
  a.channels = size(p.inputs[1].shape.back()), a.rows = size(y.back()), a.count = size(y.product());
  a.rows_of_group = a.rows / size(op.groups);
  a.transposed = op.transposed;
  a.x_type = p.inputs[0].dtype, a.w_type = p.inputs[1].dtype;
  return call.launch("conv", "conv_windows", launch_threads(call, a.count, 128), a);
}

}  // namespace

extern const Kernel conv_gpu{
    .name = "conv_gpu", .op = "conv", .supports = supports, .enqueue = enqueue, .role = Role::fallback};

}  // namespace rung::gpu

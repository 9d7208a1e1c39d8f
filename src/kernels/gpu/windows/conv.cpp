// The row of conv, which runs what no pass turns into products.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_arguments.hpp"
#include "kernels/gpu/windows/make_windows.hpp"

namespace rung::gpu {
namespace {

Window window_at(const Problem& p, int axis) {
  return window_of(p.as<Conv>(), p.inputs[0].shape, p.inputs[1].shape, axis);
}

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  for (int axis = 0; axis < p.output.shape.rank() - 2; ++axis)
    if (auto verdict = supports_window(window_at(p, axis)); !verdict) return verdict;
  const Operand* residual = p.as<Conv>().slots.find(p.inputs, ConvSlot::residual);
  if (residual && !residual->contiguous()) return reject("residual is not dense");
  if (!p.as<Conv>().tail.empty()) return reject("it has a tail");
  return supports_count(p.output.shape);
}

uint32_t size(int64_t n) { return static_cast<uint32_t>(n); }

void place_windows(const Problem& p, ConvArguments& a) {
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  const int axes = x.shape.rank() - 2;
  for (int i = 0; i < kWindowAxes; ++i) a.axes[i] = axis_of(Window{}, 0, 0);
  for (int axis = 0; axis < axes; ++axis)
    a.axes[kWindowAxes - axes + axis] = axis_of(window_at(p, axis), x.strides[axis + 1], w.strides[axis + 1]);
  a.x_batch = x.strides[0], a.x_channel = x.strides[axes + 1];
  a.w_row = w.strides[0], a.w_channel = w.strides[axes + 1];
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Conv& op = p.as<Conv>();
  const Shape& y = p.output.shape;
  if (y.product() == 0) return {};
  ConvArguments a{.x = call.inputs[0], .w = call.inputs[1], .out = call.output};
  place_windows(p, a);
  a.channels = size(p.inputs[1].shape.back()), a.rows = size(y.back()), a.count = size(y.product());
  a.rows_of_group = a.rows / size(op.groups);
  a.transposed = op.transposed, a.activation = op.activation, a.last = op.last;
  a.x_type = p.inputs[0].dtype, a.w_type = p.inputs[1].dtype, a.out_type = p.output.dtype;
  if (const int at = op.slots.at(ConvSlot::bias); at >= 0) {
    const Operand& bias = p.inputs[static_cast<size_t>(at)];
    a.bias = call.inputs[static_cast<size_t>(at)], a.bias_type = bias.dtype, a.bias_stride = bias.strides[0];
  }
  if (const int at = op.slots.at(ConvSlot::residual); at >= 0) {
    a.residual = call.inputs[static_cast<size_t>(at)];
    a.residual_type = p.inputs[static_cast<size_t>(at)].dtype;
  }
  return call.launch("conv", "conv_windows", launch_threads(call, a.count, 128), a);
}

}  // namespace

extern const Kernel conv_gpu{
    .name = "conv_gpu", .op = "conv", .supports = supports, .enqueue = enqueue, .role = Role::fallback};

}  // namespace rung::gpu

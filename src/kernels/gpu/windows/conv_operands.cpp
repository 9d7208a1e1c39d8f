// Reads the windows, addresses and types of a convolution.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_operands.hpp"

#include "ir/with_type.hpp"
#include "kernels/clipped_line_of.hpp"
#include "kernels/gpu/windows/make_windows.hpp"

namespace rung::gpu {
namespace {

Window window_at(const Problem& p, int axis) {
  return window_of(p.as<Conv>(), p.inputs[0].shape, p.inputs[1].shape, axis);
}

std::optional<ClippedLine> tail_of(const Conv& op) {
  const auto program = parse_pointwise(op.tail, 1);
  return program ? clipped_line_of(*program) : std::nullopt;
}

}  // namespace

Verdict supports_conv(const Problem& p) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  for (int axis = 0; axis < p.output.shape.rank() - 2; ++axis)
    if (auto verdict = supports_window(window_at(p, axis)); !verdict) return verdict;
  const Operand* residual = p.as<Conv>().slots.find(p.inputs, ConvSlot::residual);
  if (residual && !residual->contiguous()) return reject("residual is not dense");
  if (!p.as<Conv>().tail.empty() && !tail_of(p.as<Conv>())) return reject("its tail is no clipped line");
  return supports_count(p.output.shape);
}

Verdict supports_dense_bias(const Problem& p) {
  const Operand* bias = p.as<Conv>().slots.find(p.inputs, ConvSlot::bias);
  return !bias || bias->contiguous() ? accept() : reject("bias is not dense");
}

void place_windows(const Problem& p, WindowAxis (&places)[kWindowAxes]) {
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  const int axes = x.shape.rank() - 2;
  for (WindowAxis& each : places) each = axis_of(Window{}, 0, 0);
  for (int axis = 0; axis < axes; ++axis)
    places[kWindowAxes - axes + axis] = axis_of(window_at(p, axis), x.strides[axis + 1], w.strides[axis + 1]);
}

ConvEnd conv_end_of(const Call& call) {
  const Problem& p = call.problem;
  const Conv& op = p.as<Conv>();
  ConvEnd end{.out = call.output, .out_type = p.output.dtype, .activation = op.activation, .last = op.last};
  end.has_tail = !op.tail.empty();
  if (end.has_tail) end.tail = *tail_of(op);
  if (const int at = op.slots.at(ConvSlot::bias); at >= 0) {
    const Operand& bias = p.inputs[static_cast<size_t>(at)];
    end.bias = call.inputs[static_cast<size_t>(at)], end.bias_type = bias.dtype, end.bias_stride = bias.strides.back();
    if (has_factors(bias.shape)) {
      end.factors = end.bias;
      end.bias += static_cast<uint64_t>(bias.strides[0]) * size_of(bias.dtype);
    }
  }
  if (const int at = op.slots.at(ConvSlot::residual); at >= 0) {
    end.residual = call.inputs[static_cast<size_t>(at)];
    end.residual_type = p.inputs[static_cast<size_t>(at)].dtype;
  }
  return end;
}

size_t depthwise_packed_bytes(const Problem& p, const Machine&, size_t operand) {
  return operand == 1 ? static_cast<size_t>(p.inputs[1].shape.product()) * sizeof(float) : 0;
}

void pack_depthwise(const Problem& p, const Machine&, size_t, const void* from, void* to) {
  const Operand& w = p.inputs[1];
  const int64_t channels = w.shape[0], taps = w.shape.product() / channels;
  with_type(w.dtype, [&](auto type) {
    const auto* rows = static_cast<const decltype(type)*>(from);
    auto* packed = static_cast<float*>(to);
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[tap * channels + channel] = static_cast<float>(rows[channel * taps + tap]);
  });
}

}  // namespace rung::gpu

// Makes and runs convolutions of oneDNN, in which channels stand before the other axes by name and last in memory.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/onednn_conv.hpp"

#include <algorithm>
#include <string_view>

#include "device/cpu/share.hpp"

namespace rung::cpu {
namespace {

using Numbers = dnnl::memory::dims;

// [B,I...,C] as [B,C,I...]
dnnl::memory::desc channels_second(DType type, const Shape& shape, const Strides& strides) {
  Shape turned{shape[0], shape.back()};
  Strides steps{strides[0], strides.back()};
  for (int axis = 1; axis < shape.rank() - 1; ++axis) turned.push_back(shape[axis]), steps.push_back(strides[axis]);
  return gemm::onednn_desc(type, turned, steps);
}

Shape with_lines(Shape shape, int64_t lines) { return shape[1] = lines, shape; }

// The lines of a slice. Of integers the library has code for dense images alone, which those of one batch are; floats
// keep the steps that their weights' layout follows from.
dnnl::memory::desc slice_of(const Problem& problem, const Operand& image, int64_t lines) {
  Strides strides = image.strides;
  if (problem.as<Conv>().is_of_integers() && image.shape[0] == 1) strides[0] = lines * strides[1];
  return channels_second(image.dtype, with_lines(image.shape, lines), strides);
}

// The windows of all axes, as lists of numbers.
struct Lists {
  Numbers stride, dilation, before, after;
  Lists(const Problem& problem, const Window& first) {
    const auto& op = problem.as<Conv>();
    const Shape &x = problem.inputs[0].shape, &w = problem.inputs[1].shape;
    for (int axis = 0; axis < x.rank() - 2; ++axis) {
      const Window window = axis == 0 ? first : window_of(op, x, w, axis);
      // Elements behind the last window are no padding.
      const int64_t seen = (window.results() - 1) * window.stride + window.dilation * (window.taps - 1) + 1;
      stride.push_back(window.stride), dilation.push_back(window.dilation - 1);
      before.push_back(window.before), after.push_back(seen - window.extent - window.before);
    }
  }
};

const Operand* operand_of(const Problem& problem, ConvSlot slot) {
  return problem.as<Conv>().slots.find(problem.inputs, slot);
}

// Integers: sums and their bias are multiplied by the scales before all else, and zero points are added behind it.
void scale_integers(dnnl::primitive_attr& attributes, const Problem& problem, const float* scale) {
  constexpr int kEachChannel = 2;
  constexpr float kAny = 0.5f;
  const auto& op = problem.as<Conv>();
  const auto rows = static_cast<size_t>(problem.output.shape.back());
  attributes.set_output_scales(kEachChannel, scale ? std::vector(scale, scale + rows) : std::vector(rows, kAny));
  const auto set_zero = [&](int argument, int64_t zero) {
    if (zero != 0) attributes.set_zero_points(argument, 0, {static_cast<int32_t>(zero)});
  };
  set_zero(DNNL_ARG_SRC, op.zero), set_zero(DNNL_ARG_DST, op.out_zero);
}

dnnl::primitive_attr attributes_of(const Problem& problem, const gemm::OneDnnOperands& operands, const float* scale) {
  const auto& op = problem.as<Conv>();
  dnnl::post_ops after;
  gemm::append_activation(after, op.activation);
  if (operands.residual) after.append_binary(dnnl::algorithm::binary_add, *operands.residual);
  gemm::append_activation(after, op.last);
  // The library adds the zero point before it rounds, which takes digits from what lies half way between two steps.
  if (op.out_zero != 0) after.append_eltwise(1.0f, dnnl::algorithm::eltwise_round, 0.0f, 0.0f);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (op.is_of_integers()) scale_integers(attributes, problem, scale);
  return attributes;
}

}  // namespace

ConvSlice::ConvSlice(const Problem& problem, int part, int parts) {
  const Window whole = window_of(problem.as<Conv>(), problem.inputs[0].shape, problem.inputs[1].shape, 0);
  const Range lines = share(whole.results(), part, parts);
  begin = lines.begin, end = lines.end;
  const int64_t first = begin * whole.stride - whole.before;
  const int64_t last = (end - 1) * whole.stride - whole.before + whole.dilation * (whole.taps - 1);
  x_begin = std::clamp<int64_t>(first, 0, whole.extent - 1);
  window = whole;
  window.extent = std::max<int64_t>(1, std::min(last, whole.extent - 1) - x_begin + 1);
  window.before = x_begin - first;
  window.after = std::max<int64_t>(0, last - first + 1 - window.before - window.extent);
}

dnnl::memory::desc plain_weights(const Problem& problem) {
  const Operand& w = problem.inputs[1];
  const int64_t groups = problem.as<Conv>().groups;
  Shape shape{w.shape[0] / groups, w.shape.back()};
  Strides strides{w.strides[0], w.strides.back()};
  for (int axis = 1; axis < w.shape.rank() - 1; ++axis)
    shape.push_back(w.shape[axis]), strides.push_back(w.strides[axis]);
  if (groups > 1) shape.insert(0, groups), strides.insert(0, w.strides[0] * (w.shape[0] / groups));
  return gemm::onednn_desc(w.dtype, shape, strides);
}

bool ConvDescription::is_fast() const {
  return std::string_view(primitive.impl_info_str()).find("ref") == std::string_view::npos;
}

ConvDescription describe(const Problem& problem, const ConvSlice& slice, const float* scale) {
  const gemm::OneOpenMpThread alone;
  const auto& op = problem.as<Conv>();
  const Operand &x = problem.inputs[0], *bias = operand_of(problem, ConvSlot::bias);
  const int64_t lines = slice.end - slice.begin;
  const auto of_x = slice_of(problem, x, slice.window.extent), out = slice_of(problem, problem.output, lines);
  const auto plain = plain_weights(problem);
  const dnnl::memory::desc any(plain.dims(), plain.data_type(), dnnl::memory::format_tag::any);
  const Lists lists(problem, slice.window);
  gemm::OneDnnOperands operands{.x = of_x, .out = out, .activation = op.activation};
  if (bias) operands.bias = gemm::onednn_desc(bias->dtype, bias->shape, bias->strides);
  if (const Operand* residual = operand_of(problem, ConvSlot::residual))
    operands.residual = slice_of(problem, *residual, lines);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto way = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc description(
      bias ? dnnl::convolution_forward::desc(kind, way, of_x, any, *operands.bias, out, lists.stride, lists.dilation,
                                             lists.before, lists.after)
           : dnnl::convolution_forward::desc(kind, way, of_x, any, out, lists.stride, lists.dilation, lists.before,
                                             lists.after),
      attributes_of(problem, operands, scale), gemm::onednn_engine());
  operands.w = description.weights_desc();
  return {description, operands};
}

OneDnnConv::OneDnnConv(const ConvDescription& description) {
  const gemm::OneOpenMpThread alone;
  primitive_.emplace(dnnl::convolution_forward(description.primitive), description.operands,
                     description.primitive.scratchpad_desc());
}

}  // namespace rung::cpu

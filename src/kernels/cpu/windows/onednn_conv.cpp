// Makes and runs convolutions of oneDNN, in which channels stand before the other axes by name and last in memory.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/onednn_conv.hpp"

#include <algorithm>
#include <string_view>

#include "base/signals.hpp"
#include "device/cpu/share.hpp"
#include "kernels/cpu/linear/onednn.hpp"

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

OneDnnConv::OneDnnConv(const Problem& problem, const ConvSlice& slice) {
  const gemm::OneOpenMpThread alone;
  const auto& op = problem.as<Conv>();
  const Operand &x = problem.inputs[0], *bias = operand_of(problem, ConvSlot::bias),
                *residual = operand_of(problem, ConvSlot::residual);
  const auto of_x = channels_second(x.dtype, with_lines(x.shape, slice.window.extent), x.strides);
  const auto out = channels_second(problem.output.dtype, with_lines(problem.output.shape, slice.end - slice.begin),
                                   problem.output.strides);
  const auto plain = plain_weights(problem);
  const dnnl::memory::desc any(plain.dims(), plain.data_type(), dnnl::memory::format_tag::any);
  const Lists lists(problem, slice.window);
  dnnl::post_ops after;
  gemm::append_activation(after, op.activation);
  const auto of_residual =
      residual
          ? channels_second(residual->dtype, with_lines(residual->shape, slice.end - slice.begin), residual->strides)
          : dnnl::memory::desc();
  if (residual) after.append_binary(dnnl::algorithm::binary_add, of_residual);
  gemm::append_activation(after, op.last);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto way = dnnl::algorithm::convolution_direct;
  const auto of_bias = bias ? gemm::onednn_desc(bias->dtype, bias->shape, bias->strides) : dnnl::memory::desc();
  const dnnl::convolution_forward::primitive_desc description(
      bias ? dnnl::convolution_forward::desc(kind, way, of_x, any, of_bias, out, lists.stride, lists.dilation,
                                             lists.before, lists.after)
           : dnnl::convolution_forward::desc(kind, way, of_x, any, out, lists.stride, lists.dilation, lists.before,
                                             lists.after),
      attributes, gemm::onednn_engine());
  is_fast_ = std::string_view(description.impl_info_str()).find("ref") == std::string_view::npos;
  primitive_ = dnnl::convolution_forward(description);
  weights_ = description.weights_desc();
  stream_ = dnnl::stream(gemm::onednn_engine());
  has_bias_ = bias, has_residual_ = residual;
  add(DNNL_ARG_SRC, of_x), add(DNNL_ARG_WEIGHTS, weights_), add(DNNL_ARG_DST, out);
  if (bias) add(DNNL_ARG_BIAS, of_bias);
  const int residual_at = op.activation == Activation::none ? 0 : 1;
  if (residual) add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(residual_at) | DNNL_ARG_SRC_1, of_residual);
  const auto pad = description.scratchpad_desc();
  scratch_pad_ = std::make_unique<std::byte[]>(pad.get_size() + 64);
  add(DNNL_ARG_SCRATCHPAD, pad, scratch_pad_.get() + (64 - reinterpret_cast<uintptr_t>(scratch_pad_.get()) % 64));
}

void OneDnnConv::add(int role, const dnnl::memory::desc& desc, void* data) {
  memories_.emplace_back(desc, gemm::onednn_engine(), data);
  arguments_.push_back({role, memories_.back().get()});
}

void OneDnnConv::run(const Addresses& at) const {
  const SignalsHeld held;  // oneDNN may point the stack pointer into its data, where a signal would write
  const gemm::OneOpenMpThread alone;
  size_t next = 0;
  const auto set = [&](const void* data) {
    dnnl_memory_set_data_handle(memories_[next++].get(), const_cast<void*>(data));
  };
  set(at.x), set(at.w), set(at.out);
  if (has_bias_) set(at.bias);
  if (has_residual_) set(at.residual);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data()),
      "oneDNN could not run a convolution");
}

}  // namespace rung::cpu

// A oneDNN matmul primitive that runs on the calling thread alone.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/onednn.hpp"

#include <dlfcn.h>

#include "base/signals.hpp"

namespace rung::cpu::gemm {
namespace {

// oneDNN brings its OpenMP runtime along, so rung does not link one and looks its functions up.
template <class F>
F openmp_function(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

dnnl::algorithm algorithm_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return dnnl::algorithm::eltwise_relu;
    case Activation::gelu:
      return dnnl::algorithm::eltwise_gelu_erf;
    case Activation::gelu_tanh:
      return dnnl::algorithm::eltwise_gelu_tanh;
    case Activation::silu:
      return dnnl::algorithm::eltwise_swish;
    case Activation::tanh:
      return dnnl::algorithm::eltwise_tanh;
    case Activation::none:
      break;
  }
  return dnnl::algorithm::undef;
}

dnnl::primitive_attr attributes_of(const OneDnnOperands& problem) {
  dnnl::post_ops after;
  append_activation(after, problem.activation);
  if (problem.residual) after.append_binary(dnnl::algorithm::binary_add, *problem.residual);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::matmul::primitive_desc describe(const OneDnnOperands& problem) {
  const dnnl::primitive_attr attributes = attributes_of(problem);
  if (problem.bias)
    return {dnnl::matmul::desc(problem.x, problem.w, *problem.bias, problem.out), attributes, onednn_engine()};
  return {dnnl::matmul::desc(problem.x, problem.w, problem.out), attributes, onednn_engine()};
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

void append_activation(dnnl::post_ops& after, Activation activation) {
  if (activation == Activation::none) return;
  after.append_eltwise(1.0f, algorithm_of(activation), activation == Activation::silu ? 1.0f : 0.0f, 0.0f);
}

OneOpenMpThread::OneOpenMpThread() {
  static const auto get = openmp_function<int (*)()>("omp_get_max_threads");
  static const auto set = openmp_function<void (*)(int)>("omp_set_num_threads");
  if (!get || !set) return;
  before_ = get();
  if (before_ != 1) set(1);
}
OneOpenMpThread::~OneOpenMpThread() {
  static const auto set = openmp_function<void (*)(int)>("omp_set_num_threads");
  if (set && before_ != 1) set(before_);
}

std::optional<dnnl::memory::data_type> onednn_type(DType type) {
  if (type == DType::f32) return dnnl::memory::data_type::f32;
  if (type == DType::bf16) return dnnl::memory::data_type::bf16;
  if (type == DType::i8) return dnnl::memory::data_type::s8;
  if (type == DType::u8) return dnnl::memory::data_type::u8;
  if (type == DType::i32) return dnnl::memory::data_type::s32;
  return std::nullopt;
}

dnnl::memory::desc onednn_desc(DType type, const Shape& shape, const Strides& strides) {
  return {dnnl::memory::dims(shape.begin(), shape.end()), *onednn_type(type),
          dnnl::memory::dims(strides.begin(), strides.end())};
}

OneDnnPrimitive::OneDnnPrimitive(const dnnl::primitive& primitive, const OneDnnOperands& operands,
                                 const dnnl::memory::desc& pad)
    : primitive_(primitive),
      stream_(onednn_engine()),
      has_bias_(operands.bias.has_value()),
      has_residual_(operands.residual.has_value()) {
  add(DNNL_ARG_SRC, operands.x), add(DNNL_ARG_WEIGHTS, operands.w), add(DNNL_ARG_DST, operands.out);
  if (has_bias_) add(DNNL_ARG_BIAS, *operands.bias);
  const int residual_at = operands.activation == Activation::none ? 0 : 1;
  if (has_residual_) add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(residual_at) | DNNL_ARG_SRC_1, *operands.residual);
  scratch_pad_ = std::make_unique<std::byte[]>(pad.get_size() + 64);
  add(DNNL_ARG_SCRATCHPAD, pad, scratch_pad_.get() + (64 - reinterpret_cast<uintptr_t>(scratch_pad_.get()) % 64));
}

void OneDnnPrimitive::add(int role, const dnnl::memory::desc& desc, void* data) {
  memories_.emplace_back(desc, onednn_engine(), data);
  arguments_.push_back({role, memories_.back().get()});
}

void OneDnnPrimitive::run(const Addresses& at) const {
  const SignalsHeld held;  // for long sums oneDNN points the stack pointer into its data, where a signal would write
  const OneOpenMpThread alone;
  size_t next = 0;
  auto set = [&](const void* data) { dnnl_memory_set_data_handle(memories_[next++].get(), const_cast<void*>(data)); };
  set(at.x), set(at.w), set(at.out);
  if (has_bias_) set(at.bias);
  if (has_residual_) set(at.residual);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data()),
      "oneDNN could not run a primitive");
}

OneDnnMatmul::OneDnnMatmul(const OneDnnOperands& operands) {
  const OneOpenMpThread alone;
  const auto description = describe(operands);
  weights_ = description.weights_desc();
  OneDnnOperands chosen = operands;
  chosen.w = weights_;
  primitive_.emplace(dnnl::matmul(description), chosen, description.scratchpad_desc());
}

Verdict onednn_supports(const OneDnnOperands& problem) {
  try {
    const OneOpenMpThread alone;
    describe(problem);
    return accept();
  } catch (const dnnl::error& error) {
    return reject(fmt::format("oneDNN has no matmul for these types on this processor ({})", error.what()));
  }
}

void onednn_reorder(const dnnl::memory::desc& plain, const void* from, const dnnl::memory::desc& packed, void* to) {
  const OneOpenMpThread alone;
  dnnl::stream stream(onednn_engine());
  dnnl::memory source(plain, onednn_engine(), const_cast<void*>(from)), target(packed, onednn_engine(), to);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

}  // namespace rung::cpu::gemm

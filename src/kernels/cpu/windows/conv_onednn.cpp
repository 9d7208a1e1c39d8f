// conv by oneDNN, of floats and of integers: each thread runs its own primitive over its slice of the lines of results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/onednn.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"
#include "kernels/cpu/windows/onednn_conv.hpp"

namespace rung::cpu {
namespace {

// Parts whose primitives want the same layout share one copy of the weights.
struct SlicedConv {
  struct Part {
    ConvSlice slice;
    std::optional<ConvDescription> description;  // none: the slice is empty
    std::unique_ptr<OneDnnConv> conv;            // of a call
    size_t weights_at = 0;
  };
  std::vector<Part> parts;
  size_t packed_bytes = 0;

  explicit SlicedConv(const Problem& problem, const float* scale = nullptr) {
    const int threads = std::max(1, problem.threads);
    for (int thread = 0; thread < threads; ++thread) {
      Part part{.slice = ConvSlice(problem, thread, threads)};
      if (!part.slice.empty()) {
        part.description = describe(problem, part.slice, scale);
        part.weights_at = place_of(part.description->weights());
      }
      parts.push_back(std::move(part));
    }
  }

  void make_primitives() {
    for (Part& part : parts)
      if (part.description) part.conv = std::make_unique<OneDnnConv>(*part.description);
  }

 private:
  size_t place_of(const dnnl::memory::desc& weights) {
    for (const Part& part : parts)
      if (part.description && part.description->weights() == weights) return part.weights_at;
    const size_t at = packed_bytes;
    packed_bytes += (weights.get_size() + 63) / 64 * 64;
    return at;
  }
};

// Checks what both rows need, and asks the library.
Verdict supports_slices(const Problem& problem) {
  for (int64_t step : problem.inputs[0].strides)
    if (step == 0) return reject("elements of x overlap");
  if (problem.output.shape.product() == 0) return reject("there is no result");
  try {
    const int threads = std::max(1, problem.threads);
    for (int part : {0, threads - 1}) {
      const ConvSlice slice(problem, part, threads);
      if (slice.empty()) continue;
      const ConvDescription description = describe(problem, slice);
      if (!description.is_fast()) return reject("oneDNN has but its reference for it on this processor");
      const OneDnnConv made(description);  // the library describes some that it cannot make
    }
    return accept();
  } catch (const dnnl::error& error) {
    return reject(fmt::format("oneDNN has no convolution for it on this processor ({})", error.what()));
  }
}

Verdict supports(const Problem& problem, const Machine&) {
  if (Verdict verdict = supports_constant_conv(problem); !verdict) return verdict;
  if (!problem.as<Conv>().tail.empty()) return reject("it has a tail");
  for (const Operand& operand : problem.inputs)
    if (operand.dtype == DType::f16) return reject("f16, of which its results are wrong");
  return supports_slices(problem);
}

// Without VNNI the library adds products of bytes up in 16 bits, where they may not fit.
Verdict supports_bytes(const Problem& problem, const Machine& cpu) {
  const Conv& op = problem.as<Conv>();
  if (!op.is_of_integers()) return reject("of floats");
  if (!cpu.avx512_vnni) return reject("needs AVX-512 VNNI");
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be packed ahead");
  const Operand& scale = *op.slots.find(problem.inputs, ConvSlot::scale);
  if (!scale.constant || !scale.contiguous()) return reject("its scales are not constant and dense");
  const Operand *bias = op.slots.find(problem.inputs, ConvSlot::bias),
                *residual = op.slots.find(problem.inputs, ConvSlot::residual);
  if (bias && !bias->contiguous()) return reject("bias is not dense");
  if (residual && (!residual->contiguous() || residual->dtype != DType::f32))
    return reject("residual is not dense or not f32");
  return supports_slices(problem);
}

size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? SlicedConv(problem).packed_bytes : 0;
}

void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  for (const auto& part : SlicedConv(problem).parts)
    if (part.description)
      gemm::onednn_reorder(plain_weights(problem), from, part.description->weights(),
                           static_cast<std::byte*>(to) + part.weights_at);
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
  auto conv = std::make_shared<SlicedConv>(problem);
  conv->make_primitives();
  return conv;
}

std::shared_ptr<void> prepare_bytes(const Problem& problem, const Machine&, std::span<const void* const> inputs) {
  const void* scale = *problem.as<Conv>().slots.find(inputs, ConvSlot::scale);
  auto conv = std::make_shared<SlicedConv>(problem, static_cast<const float*>(scale));
  conv->make_primitives();
  return conv;
}

void run(const Call& call) {
  const auto& part = static_cast<const SlicedConv*>(call.state)->parts[static_cast<size_t>(call.part)];
  if (!part.conv) return;
  const Problem& problem = call.problem;
  const auto& slots = problem.as<Conv>().slots;
  const auto x_size = static_cast<int64_t>(size_of(problem.inputs[0].dtype)),
             size = static_cast<int64_t>(size_of(problem.output.dtype));
  OneDnnConv::Addresses at;
  at.x = call.in<std::byte>(0) + part.slice.x_begin * problem.inputs[0].strides[1] * x_size;
  at.w = call.in<std::byte>(1) + part.weights_at;
  at.out = call.out<std::byte>() + part.slice.begin * problem.output.strides[1] * size;
  if (const auto* bias = slots.find(call.inputs, ConvSlot::bias)) at.bias = *bias;
  if (const auto* residual = slots.find(call.inputs, ConvSlot::residual))
    at.residual = static_cast<const std::byte*>(*residual) +
                  part.slice.begin * problem.output.strides[1] *
                      static_cast<int64_t>(size_of(slots.find(problem.inputs, ConvSlot::residual)->dtype));
  part.conv->run(at);
}

}  // namespace

extern const Kernel conv_onednn = {.name = "conv_onednn",
                                   .op = "conv",
                                   .supports = supports,
                                   .run = run,
                                   .packed_bytes = packed_bytes,
                                   .pack = pack,
                                   .prepare = prepare,
                                   .role = Role::library,
                                   .library = "onednn"};
extern const Kernel conv_bytes_onednn = {.name = "conv_bytes_onednn",
                                         .op = "conv",
                                         .supports = supports_bytes,
                                         .run = run,
                                         .packed_bytes = packed_bytes,
                                         .pack = pack,
                                         .prepare_with = prepare_bytes,
                                         .role = Role::library,
                                         .library = "onednn"};

}  // namespace rung::cpu

// conv by oneDNN: each thread runs its own primitive over its slice of the lines of results.
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
    std::unique_ptr<OneDnnConv> conv;
    size_t weights_at = 0;
  };
  std::vector<Part> parts;
  size_t packed_bytes = 0;

  explicit SlicedConv(const Problem& problem) {
    const int threads = std::max(1, problem.threads);
    for (int thread = 0; thread < threads; ++thread) {
      Part part{ConvSlice(problem, thread, threads), nullptr};
      if (!part.slice.empty()) {
        part.conv = std::make_unique<OneDnnConv>(problem, part.slice);
        part.weights_at = place_of(part.conv->weights());
      }
      parts.push_back(std::move(part));
    }
  }

 private:
  size_t place_of(const dnnl::memory::desc& weights) {
    for (const Part& part : parts)
      if (part.conv && part.conv->weights() == weights) return part.weights_at;
    const size_t at = packed_bytes;
    packed_bytes += (weights.get_size() + 63) / 64 * 64;
    return at;
  }
};

Verdict supports(const Problem& problem, const Machine&) {
  if (Verdict verdict = supports_constant_conv(problem); !verdict) return verdict;
  if (!problem.as<Conv>().tail.empty()) return reject("it has a tail");
  for (const Operand& operand : problem.inputs)
    if (operand.dtype == DType::f16) return reject("f16, of which its results are wrong");
  for (int64_t step : problem.inputs[0].strides)
    if (step == 0) return reject("elements of x overlap");
  if (problem.output.shape.product() == 0) return reject("there is no result");
  try {
    const int threads = std::max(1, problem.threads);
    for (int part : {0, threads - 1}) {
      const ConvSlice slice(problem, part, threads);
      if (!slice.empty() && !OneDnnConv(problem, slice).is_fast())
        return reject("oneDNN has but its reference for it on this processor");
    }
    return accept();
  } catch (const dnnl::error& error) {
    return reject(fmt::format("oneDNN has no convolution for it on this processor ({})", error.what()));
  }
}

size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? SlicedConv(problem).packed_bytes : 0;
}

void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  for (const auto& part : SlicedConv(problem).parts)
    if (part.conv)
      gemm::onednn_reorder(plain_weights(problem), from, part.conv->weights(),
                           static_cast<std::byte*>(to) + part.weights_at);
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) { return std::make_shared<SlicedConv>(problem); }

void run(const Call& call) {
  const auto& part = static_cast<const SlicedConv*>(call.state)->parts[static_cast<size_t>(call.part)];
  if (!part.conv) return;
  const Problem& problem = call.problem;
  const auto& slots = problem.as<Conv>().slots;
  const auto size = static_cast<int64_t>(size_of(problem.output.dtype));
  OneDnnConv::Addresses at;
  at.x = call.in<std::byte>(0) + part.slice.x_begin * problem.inputs[0].strides[1] * size;
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

}  // namespace rung::cpu

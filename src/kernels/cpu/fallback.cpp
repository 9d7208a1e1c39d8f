// The fallback of every op: the evaluator, on one thread, over dense copies of the operands. It allocates as it runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "kernels/cpu/kernel.hpp"
#include "reference/evaluate.hpp"
#include "reference/values.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem& problem, const Machine&) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (updates(problem.op, i) && !problem.inputs[i].contiguous())
      return reject(fmt::format("operand {}, which it updates, is not dense", i));
  return accept();
}

// Returns a dense tensor, which shares the operand's memory if that is dense already.
Tensor dense(const Operand& operand, const void* data) {
  const std::shared_ptr<std::byte> memory(static_cast<std::byte*>(const_cast<void*>(data)), [](std::byte*) {});
  const Type type{operand.dtype, operand.shape};
  if (operand.contiguous()) return Tensor(type, memory);
  return reference::copy_strided(Tensor({operand.dtype, {operand.span()}}, memory), operand.shape, operand.strides);
}

void run(const Call& call) {
  const Problem& problem = call.problem;
  std::vector<Tensor> operands;
  for (size_t i = 0; i < problem.inputs.size(); ++i) operands.push_back(dense(problem.inputs[i], call.inputs[i]));
  const auto results = evaluate_results(problem.op, operands, {problem.output.dtype, problem.output.shape});
  if (results) {
    const auto places = results_of(problem);
    for (size_t i = 0; i < results->size(); ++i) {
      void* to = i < places.size() ? static_cast<std::byte*>(call.output) + places[i].offset
                                   : const_cast<void*>(call.inputs[i]);  // an operand that it updates
      std::copy_n((*results)[i].data(), (*results)[i].bytes(), static_cast<std::byte*>(to));
    }
    return;
  }
  const Fault fault = fault_of(problem);
  call.fault->store(fault == Fault::none ? Fault::kernel_threw : fault, std::memory_order_relaxed);
}

Split whole(const Problem&, const Machine&) { return {}; }

}  // namespace

const Kernel* fallback_of(std::string_view family) {
  static const std::map<std::string_view, std::pair<std::string, Kernel>> kFallbacks = [] {
    std::map<std::string_view, std::pair<std::string, Kernel>> made;
    for (std::string_view op : computed_ops()) {
      auto& [name, kernel] = made[op];
      name = fmt::format("{}_fallback", op);
      kernel = {.name = name, .op = op, .supports = supports, .run = run, .role = Role::fallback, .split = whole};
    }
    return made;
  }();
  return &kFallbacks.at(family).second;
}

}  // namespace rung::cpu

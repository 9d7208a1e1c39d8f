// Rows of generated kernels: one launch of code that is made for the problem.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/code.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {
namespace {

Result<GeneratedSource> source_for(const Problem& problem, const Machine& machine) {
  return generate_source(problem, machine.gpu);
}

Verdict supports(const Problem& problem, const Machine& machine) {
  const auto source = source_for(problem, machine);
  return source ? accept() : reject(source.error().message);
}

struct Prepared {
  GeneratedSource source;
  Result<CodePointer> code;
  std::string module;  // named for its image: one that a plan brought stands beside one that was compiled here
};

std::shared_ptr<void> prepared(GeneratedSource source, Result<CodePointer> code) {
  std::string module = code ? "generated_" + (*code)->image->hash : "";
  return std::make_shared<Prepared>(Prepared{std::move(source), std::move(code), std::move(module)});
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine& machine) {
  GeneratedSource source = *generate_source(problem, machine.gpu);
  auto code = code_of(source.text, machine.gpu);
  return prepared(std::move(source), std::move(code));
}

Status enqueue(const Call& call) {
  const auto& prepared = *static_cast<const Prepared*>(call.state);
  RUNG_TRY(const CodePointer code, prepared.code);
  RUNG_CHECK(call.gpu.add_module(prepared.module, code->image->bytes.data()));
  GeneratedArguments arguments{};
  std::copy_n(call.inputs, call.problem.inputs.size(), arguments.operand);
  arguments.fault = call.fault;
  const std::vector<ResultPlace> results = results_of(call.problem);
  for (size_t i = 0; i < results.size(); ++i) arguments.result[i] = call.output + results[i].offset;
  return call.launch(prepared.module, code->entry,
                     {.grid = {prepared.source.blocks},
                      .block = {prepared.source.threads},
                      .dependent = call.gpu.info().dependent_launch},
                     arguments);
}

constexpr uint64_t kVectorBytes = 16;
constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name,
          .op = op,
          .supports = supports,
          .prepare = prepare,
          .alignment = kVectorBytes,
          .enqueue = enqueue,
          .source = source_for};
}

}  // namespace

std::shared_ptr<void> state_with(const Problem& problem, const Machine& machine, CodePointer code) {
  return prepared(*generate_source(problem, machine.gpu), std::move(code));
}

extern const Kernel pointwise_generated_gpu = row("pointwise_generated_gpu", "pointwise");
extern const Kernel formula_generated_gpu = row("formula_generated_gpu", "formula");
extern const Kernel region_generated_gpu = row("region_generated_gpu", "region");

}  // namespace rung::gpu

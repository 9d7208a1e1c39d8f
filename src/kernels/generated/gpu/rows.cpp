// Rows of generated kernels: one launch of code that is made for the problem.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/compilers/compiler.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (const auto compiler = compiler_for(machine.gpu); !compiler) return reject(compiler.error().message);
  const auto source = generate_source(problem, machine.gpu);
  return source ? accept() : reject(source.error().message);
}

struct Prepared {
  GeneratedSource source;
  Result<std::shared_ptr<const GeneratedCode>> code;
};

std::shared_ptr<void> prepare(const Problem& problem, const Machine& machine) {
  GeneratedSource source = *generate_source(problem, machine.gpu);
  auto code = code_of(source, machine.gpu);
  return std::make_shared<Prepared>(Prepared{std::move(source), std::move(code)});
}

Status enqueue(const Call& call) {
  const auto& prepared = *static_cast<const Prepared*>(call.state);
  RUNG_TRY(const std::shared_ptr<const GeneratedCode> code, prepared.code);
  RUNG_CHECK(call.gpu.add_module(code->name, code->image.data()));
  GeneratedArguments arguments{};
  std::copy_n(call.inputs, call.problem.inputs.size(), arguments.operand);
  arguments.fault = call.fault;
  const std::vector<ResultPlace> results = results_of(call.problem);
  for (size_t i = 0; i < results.size(); ++i) arguments.result[i] = call.output + results[i].offset;
  return call.launch(code->name, kGeneratedEntry,
                     {.grid = {prepared.source.blocks}, .block = {prepared.source.threads}}, arguments);
}

constexpr uint64_t kVectorBytes = 16;
constexpr Kernel row(std::string_view name, std::string_view op) {
  return {
      .name = name, .op = op, .supports = supports, .prepare = prepare, .alignment = kVectorBytes, .enqueue = enqueue};
}

}  // namespace

extern const Kernel pointwise_generated_gpu = row("pointwise_generated_gpu", "pointwise");
extern const Kernel formula_generated_gpu = row("formula_generated_gpu", "formula");
extern const Kernel region_generated_gpu = row("region_generated_gpu", "region");

}  // namespace rung::gpu

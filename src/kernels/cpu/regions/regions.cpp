// Rows of regions: the program becomes sweeps over a row, and one interpreter runs them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/regions/regions.hpp"

#include "ir/region.hpp"
#include "kernels/cpu/regions/region_plan.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/elementwise_program.hpp"

namespace rung::cpu {
namespace {

bool is_read(DType dtype) { return is_computed_float(dtype) || dtype == DType::boolean; }

// Generated code runs programs of elements alone, and functions that an interpreter computes one by one, much faster.
Verdict supports_program(const Problem& p) {
  const auto program = parse_region(p.as<Region>().program, p.inputs.size());
  if (!program) return reject(program.error().message);
  if (!program->reduces()) return reject("no value of rows: generated code is faster");
  const auto rows = row_registers(*program, operand_types(p), *region_shape(operand_types(p)));
  for (size_t i = 0; i < program->instructions.size(); ++i) {
    const auto* element = std::get_if<PointwiseInstruction>(&program->instructions[i]);
    if (!element || rows[program->inputs + i]) continue;
    if (auto verdict = is_interpreted(*element); !verdict) return verdict;
    if (!is_vectorised(code_of(element->function))) return reject("a function that is not computed in vectors");
  }
  return accept();
}

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  for (const Operand& x : p.inputs)
    if (!is_read(x.dtype)) return reject("an operand of integers");
  for (const ResultPlace& result : results_of(p))
    if (!is_read(result.type.dtype) && result.type.dtype != DType::i64)
      return reject("a result is neither f32, bf16, f16, bool nor i64");
  if (auto verdict = supports_program(p); !verdict) return verdict;
  return plan_region(p) ? accept() : reject("more operands, values or sweeps than the interpreter has");
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  return std::make_shared<RegionPlan>(*plan_region(p));
}

// Threads begin cache lines of their own.
size_t thread_floats(const RegionPlan& plan) { return static_cast<size_t>((plan.thread_floats + 15) / 16 * 16); }
size_t scratch_bytes(const Problem& p, const Machine&) {
  return sizeof(float) * thread_floats(*plan_region(p)) * static_cast<size_t>(p.threads);
}

Split split(const Problem& p, const Machine&) {
  constexpr double kElementUs = 1e-3;
  const auto plan = plan_region(p);
  const double us = kElementUs * static_cast<double>(plan->rows * plan->width);
  return {std::max(1, p.threads) * pieces_of_share(p, us, plan->rows)};
}

template <CpuIsa isa>
void run(const Call& call) {
  const auto& plan = *static_cast<const RegionPlan*>(call.state);
  const Range mine = share(plan.rows, call.part, call.parts);
  float* scratch = static_cast<float*>(call.scratch) + thread_floats(plan) * static_cast<size_t>(call.thread);
  const RegionWork work{&plan, call.inputs, call.output, scratch, mine.begin, mine.end};
  if (mine.begin < mine.end) isa == CpuIsa::avx2 ? avx2::region(work) : avx512::region(work);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = Region::kName,
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .prepare = prepare,
          .split = split};
}

}  // namespace

extern const Kernel region_avx512 = row<CpuIsa::avx512>("region_avx512");
extern const Kernel region_avx2 = row<CpuIsa::avx2>("region_avx2");

}  // namespace rung::cpu

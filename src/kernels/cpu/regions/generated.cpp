// Rows of regions as generated code: one function runs all sweeps over a row, and goes on to the next one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>

#include "ir/region.hpp"
#include "kernels/collapse.hpp"
#include "kernels/cpu/gather.hpp"
#include "kernels/cpu/pointwise/generated.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/generated/code.hpp"
#include "kernels/generated/lower_region.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

using generated::VectorSet;

constexpr size_t kMostRowAddresses = 2 * kMaxLoopOperands;  // of operands, results and memory for rows
constexpr int64_t kGatheredElements = 512;                  // of an operand, at once

// The loops around the code, and what one call of it takes.
struct GeneratedRows {
  Loops loops;  // over the rows of the operands
  int64_t rows = 1, width = 1;
  int inputs = 0, results = 0, buffers = 0;
  std::shared_ptr<const generated::Code> code;
  size_t bytes[kMostRowAddresses] = {};          // of an element, by operand, then by result
  int64_t result_elements[kMostRowAddresses]{};  // of a row, by result
  uint64_t result_at[kMostRowAddresses] = {};    // where each result begins in the output
  int64_t stride[kMaxLoopOperands] = {};         // along the row, by operand
  std::vector<int> gathered;                     // operands whose elements are not neighbours
  int64_t at_once = 1;                           // rows whose operands are gathered together

  // Memory of a thread: rows of whole vectors, then what is gathered. A cache line lies between two, as loads from one
  // would else wait for stores to another, whose addresses agree in the lowest bits.
  int64_t buffer_bytes() const { return (width + 15) / 16 * 64 + 64; }
  int64_t pitch() const { return (width * 4 + 63) / 64 * 64 + 64; }
  int64_t scratch_bytes() const {
    return buffers * buffer_bytes() + static_cast<int64_t>(gathered.size()) * at_once * pitch();
  }
};

// One of the two: values of rows ask for sweeps over rows.
struct GeneratedRegion {
  std::shared_ptr<const GeneratedElements> elements;
  GeneratedRows rows;
};

// Returns whether every result is one of elements, none of which depends on another.
bool is_elementwise(const Problem& p) {
  const auto program = parse_region(p.as<Region>().program, p.inputs.size());
  return program && !program->reduces() &&
         std::ranges::all_of(results_of(p), [&](const ResultPlace& r) { return r.type.shape == p.output.shape; }) &&
         p.output.shape == *region_shape(operand_types(p));
}

Shape without_last(Shape shape) {
  if (shape.rank() > 0) shape.erase(shape.rank() - 1);
  return shape;
}

void set_loops(const Problem& p, GeneratedRows& plan) {
  const Shape shape = *region_shape(operand_types(p));
  plan.width = shape.rank() > 0 ? shape.back() : 1;
  std::vector<Strides> strides;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    strides.push_back(broadcast_strides(p.inputs[i], shape));
    plan.bytes[i] = size_of(p.inputs[i].dtype);
    if (shape.rank() == 0) continue;
    plan.stride[i] = plan.width == 1 ? 0 : strides.back().back();
    strides.back().erase(shape.rank() - 1);
    if (plan.stride[i] > 1) plan.gathered.push_back(static_cast<int>(i));
  }
  plan.loops = collapse(without_last(shape), strides);
  plan.rows = plan.loops.outer * plan.loops.inner;
  plan.at_once = std::clamp<int64_t>(kGatheredElements / std::max<int64_t>(plan.width, 1), 1, plan.loops.inner);
}

GeneratedRows plan_rows(const Problem& p, const generated::RegionBody& body) {
  GeneratedRows plan;
  set_loops(p, plan);
  plan.inputs = static_cast<int>(p.inputs.size());
  plan.results = body.results;
  plan.buffers = body.buffers;
  const std::vector<ResultPlace> results = results_of(p);
  for (size_t i = 0; i < results.size(); ++i) {
    plan.bytes[p.inputs.size() + i] = size_of(results[i].type.dtype);
    plan.result_elements[i] = results[i].type.shape.product() / std::max<int64_t>(plan.rows, 1);
    plan.result_at[i] = results[i].offset;
  }
  return plan;
}

GeneratedRows plan_rows(const Problem& p, VectorSet set) {
  const auto body = generated::lower_region(p, set);
  assert(body && "supports() asks before");
  return plan_rows(p, *body);
}

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (is_elementwise(p)) return supports_elements(p, kVectors<isa>);
  if (p.inputs.size() >= kMaxLoopOperands)
    return reject(fmt::format("{} operands, wanted less than {}", p.inputs.size(), kMaxLoopOperands));
  const auto body = generated::lower_region(p, kVectors<isa>);
  if (!body) return reject(body.error().message);
  if (const size_t all = body->same.size() + static_cast<size_t>(body->results + body->buffers);
      all > kMostRowAddresses)
    return reject(fmt::format("{} operands, results and values kept, wanted at most {}", all, kMostRowAddresses));
  return generated::may_execute();
}

template <CpuIsa isa>
std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  auto plan = std::make_shared<GeneratedRegion>();
  if (is_elementwise(p)) {
    plan->elements = plan_elements(p, kVectors<isa>);
    return plan;
  }
  const auto body = generated::lower_region(p, kVectors<isa>);
  assert(body && "supports() asks before");
  plan->rows = plan_rows(p, *body);
  plan->rows.code = generated::code_of(kVectors<isa>, *body);
  return plan;
}

template <CpuIsa isa>
size_t scratch_bytes(const Problem& p, const Machine&) {
  if (is_elementwise(p)) return 0;
  return static_cast<size_t>(plan_rows(p, kVectors<isa>).scratch_bytes()) * static_cast<size_t>(p.threads);
}

Split split(const Problem& p, const Machine& cpu) {
  if (is_elementwise(p)) return split_by_elements(p, cpu);
  constexpr double kElementUs = 0.6e-3;
  const Shape shape = *region_shape(operand_types(p));
  const int64_t rows = without_last(shape).product();
  const double us = kElementUs * static_cast<double>(shape.product());
  return {std::max(1, p.threads) * pieces_of_share(p, us, rows)};
}

// Rows whose operands lie one distance apart each.
struct RowRun {
  void* addresses[kMostRowAddresses] = {};
  int64_t row_bytes[kMostRowAddresses] = {};
  int64_t rows = 0;
};

RowRun run_at(const GeneratedRows& plan, const Call& call, int64_t row, std::byte* scratch) {
  RowRun run;
  int64_t offsets[kMaxLoopOperands] = {};
  outer_offsets(plan.loops, row / plan.loops.inner, offsets);
  const int64_t along = row % plan.loops.inner;
  for (int i = 0; i < plan.inputs; ++i) {
    const auto bytes = static_cast<int64_t>(plan.bytes[i]);
    run.row_bytes[i] = plan.loops.inner_strides[i] * bytes;
    run.addresses[i] =
        static_cast<std::byte*>(const_cast<void*>(call.inputs[i])) + offsets[i] * bytes + along * run.row_bytes[i];
  }
  for (int i = 0; i < plan.results; ++i) {
    const int at = plan.inputs + i;
    run.row_bytes[at] = plan.result_elements[i] * static_cast<int64_t>(plan.bytes[at]);
    run.addresses[at] = static_cast<std::byte*>(call.output) + plan.result_at[i] + row * run.row_bytes[at];
  }
  for (int i = 0; i < plan.buffers; ++i)
    run.addresses[plan.inputs + plan.results + i] = scratch + i * plan.buffer_bytes();
  return run;
}

void gather_rows(const GeneratedRows& plan, RowRun& run, std::byte* to) {
  for (int i : plan.gathered) {
    const auto bytes = static_cast<int64_t>(plan.bytes[i]);
    gather({static_cast<const std::byte*>(run.addresses[i]), plan.stride[i] * bytes, run.row_bytes[i], plan.width,
            run.rows},
           plan.bytes[i], to, plan.pitch());
    run.addresses[i] = to;
    run.row_bytes[i] = plan.pitch();
    to += run.rows * plan.pitch();
  }
}

void run_rows(const Call& call, const GeneratedRows& plan) {
  const Range mine = share(plan.rows, call.part, call.parts);
  std::byte* const scratch = static_cast<std::byte*>(call.scratch) + plan.scratch_bytes() * call.thread;
  for (int64_t row = mine.begin; row < mine.end;) {
    RowRun run = run_at(plan, call, row, scratch);
    run.rows = std::min(plan.loops.inner - row % plan.loops.inner, mine.end - row);
    if (!plan.gathered.empty()) {
      run.rows = std::min(run.rows, plan.at_once);
      gather_rows(plan, run, scratch + plan.buffers * plan.buffer_bytes());
    }
    plan.code->function()(run.addresses, plan.width, run.rows, run.row_bytes);
    row += run.rows;
  }
}

void run(const Call& call) {
  const auto& plan = *static_cast<const GeneratedRegion*>(call.state);
  plan.elements ? run_elements(call, *plan.elements) : run_rows(call, plan.rows);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = Region::kName,
          .supports = supports<isa>,
          .run = run,
          .scratch_bytes = scratch_bytes<isa>,
          .prepare = prepare<isa>,
          .split = split};
}

}  // namespace

extern const Kernel region_generated_avx512 = row<CpuIsa::avx512>("region_generated_avx512");
extern const Kernel region_generated_avx2 = row<CpuIsa::avx2>("region_generated_avx2");

}  // namespace rung::cpu

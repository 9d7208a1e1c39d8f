// Rows of the element-wise ops as generated code: assembled when a session opens, for the op, its types and its
// strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/pointwise/generated.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/collapse.hpp"
#include "kernels/cpu/gather.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/generated/code.hpp"
#include "kernels/generated/lower.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {

using generated::VectorSet;

constexpr int64_t kBlock = 512;                      // elements of a row that are one unit of work
constexpr size_t kMostAddresses = kMaxLoopOperands;  // of operands and results

// The loops around the code, and what one call of it takes.
struct GeneratedElements {
  Loops loops;  // over the operands, then the results
  int inputs = 0;
  std::shared_ptr<const generated::Code> code;
  int64_t lanes = 0;  // the elements of a vector
  bool whole_vectors = false;
  size_t bytes[kMaxLoopOperands] = {};        // of an element, by operand, then by result
  uint64_t result_at[kMaxLoopOperands] = {};  // where each result begins in the output
  std::vector<int> gathered;                  // operands whose elements are not neighbours
  bool divides_integers = false;
};

namespace {

Loops loops_of(const Problem& p, size_t results) {
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) strides.push_back(broadcast_strides(x, p.output.shape));
  for (size_t i = 0; i < results; ++i) strides.push_back(contiguous_strides(p.output.shape));
  return collapse(p.output.shape, strides);
}

std::vector<bool> same_operands(const GeneratedElements& plan) {
  std::vector<bool> same;
  for (int i = 0; i < plan.inputs; ++i) same.push_back(plan.loops.inner_strides[i] == 0);
  return same;
}

bool divides_integers(const Problem& p) {
  return !is_float(p.inputs[0].dtype) && fault_of(p) == Fault::integer_divided_by_zero;
}

// Rows of one length: where the operands of the first one begin, and how far it is to the next one.
struct Run {
  void* addresses[kMaxLoopOperands] = {};
  int64_t elements = 0, rows = 1;
  int64_t row_bytes[kMaxLoopOperands] = {};
};

// Runs the code on what may be part of a vector, by way of whole vectors beside the operands.
void run_part_of_vector(const GeneratedElements& plan, Run run) {
  alignas(64) std::byte staged[kMaxLoopOperands][64] = {};
  const Run at = run;
  const auto bytes = [&](int i) { return static_cast<size_t>(run.elements) * plan.bytes[i]; };
  for (int i = 0; i < plan.loops.operands; ++i) {
    if (i < plan.inputs && plan.loops.inner_strides[i] == 0) continue;
    if (i < plan.inputs) std::memcpy(staged[i], run.addresses[i], bytes(i));
    run.addresses[i] = staged[i];
  }
  plan.code->function()(run.addresses, plan.lanes, 1, run.row_bytes);
  for (int i = plan.inputs; i < plan.loops.operands; ++i) std::memcpy(at.addresses[i], staged[i], bytes(i));
}

// Runs one row whose operands are dense or have one value.
void run_dense(const GeneratedElements& plan, Run run) {
  Run whole = run;
  if (plan.whole_vectors) whole.elements = run.elements / plan.lanes * plan.lanes;
  if (whole.elements) plan.code->function()(whole.addresses, whole.elements, 1, whole.row_bytes);
  if (whole.elements == run.elements) return;
  for (int i = 0; i < plan.loops.operands; ++i)
    if (plan.loops.inner_strides[i] != 0)
      run.addresses[i] =
          static_cast<std::byte*>(run.addresses[i]) + whole.elements * static_cast<int64_t>(plan.bytes[i]);
  run.elements -= whole.elements;
  run_part_of_vector(plan, run);
}

// Runs rows whose operands are dense or have one value.
void run_rows(const GeneratedElements& plan, Run run) {
  if (!plan.whole_vectors || run.elements % plan.lanes == 0)
    return plan.code->function()(run.addresses, run.elements, run.rows, run.row_bytes);
  for (int64_t row = 0; row < run.rows; ++row) {
    run_dense(plan, run);
    for (int i = 0; i < plan.loops.operands; ++i)
      run.addresses[i] = static_cast<std::byte*>(run.addresses[i]) + run.row_bytes[i];
  }
}

// Rows whose operands are gathered at once: at most kBlock elements each of as many as have room beside one another.
constexpr int64_t kPitch = kBlock * 4 + 64;  // bytes; rows begin in different sets of the first-level cache
constexpr int64_t kMostGathered = kMostAddresses - 1;
int64_t gathered_rows(const GeneratedElements& plan) {
  return kMostGathered / static_cast<int64_t>(plan.gathered.size());
}

void run_gathered(const GeneratedElements& plan, Run run) {
  alignas(64) std::byte room[kMostGathered * kPitch];
  std::byte* to = room;
  for (int i : plan.gathered) {
    const auto bytes = static_cast<int64_t>(plan.bytes[i]);
    gather({static_cast<const std::byte*>(run.addresses[i]), plan.loops.inner_strides[i] * bytes, run.row_bytes[i],
            run.elements, run.rows},
           plan.bytes[i], to, kPitch);
    run.addresses[i] = to;
    run.row_bytes[i] = kPitch;
    to += run.rows * kPitch;
  }
  run_rows(plan, run);
}

bool has_zero(const std::byte* from, size_t bytes, int64_t stride, int64_t count) {
  const std::byte zero[8] = {};
  for (int64_t i = 0; i < count; ++i)
    if (std::memcmp(from + i * stride, zero, bytes) == 0) return true;
  return false;
}

// The elements from `begin` on of the rows whose operands begin at `offsets`.
Run run_at(const GeneratedElements& plan, const Call& call, const int64_t* offsets, int64_t begin) {
  Run run;
  for (int i = 0; i < plan.loops.operands; ++i) {
    const void* base = i < plan.inputs ? call.inputs[i] : call.output;
    const int64_t element = offsets[i] + begin * plan.loops.inner_strides[i],
                  bytes = static_cast<int64_t>(plan.bytes[i]);
    run.addresses[i] = static_cast<std::byte*>(const_cast<void*>(base)) + plan.result_at[i] + element * bytes;
    if (plan.loops.rank > 0) run.row_bytes[i] = plan.loops.strides[plan.loops.rank - 1][i] * bytes;
  }
  return run;
}

void report_zeros(const GeneratedElements& plan, const Call& call, const Run& run) {
  if (plan.divides_integers &&
      has_zero(static_cast<const std::byte*>(run.addresses[1]), plan.bytes[1],
               plan.loops.inner_strides[1] * static_cast<int64_t>(plan.bytes[1]), run.elements))
    call.fault->store(Fault::integer_divided_by_zero, std::memory_order_relaxed);
}

// Returns how many rows one call of the code may take from `row` on: those up to the end of the innermost outer axis.
int64_t rows_at_once(const GeneratedElements& plan, int64_t row, int64_t end) {
  if (plan.loops.rank == 0 || plan.divides_integers) return 1;
  const int64_t axis = plan.loops.shape[plan.loops.rank - 1], rows = std::min(axis - row % axis, end - row);
  return plan.gathered.empty() ? rows : std::min(rows, gathered_rows(plan));
}

}  // namespace

Verdict supports_elements(const Problem& p, VectorSet set) {
  if (const size_t all = p.inputs.size() + results_of(p).size(); all > kMostAddresses)
    return reject(fmt::format("{} operands and results, wanted at most {}", all, kMostAddresses));
  if (auto body = generated::lower(p, set); !body) return reject(body.error().message);
  return generated::may_execute();
}

std::shared_ptr<const GeneratedElements> plan_elements(const Problem& p, VectorSet set) {
  auto plan = std::make_shared<GeneratedElements>();
  const std::vector<ResultPlace> results = results_of(p);
  plan->inputs = static_cast<int>(p.inputs.size());
  plan->loops = loops_of(p, results.size());
  const auto body = generated::lower(p, set);
  assert(body && "supports() asks before");
  plan->code = generated::code_of(set, *body, same_operands(*plan));
  plan->lanes = generated::lanes_of(set);
  plan->whole_vectors = set == VectorSet::avx2;
  for (size_t i = 0; i < p.inputs.size(); ++i) plan->bytes[i] = size_of(p.inputs[i].dtype);
  for (size_t i = 0; i < results.size(); ++i) {
    plan->bytes[p.inputs.size() + i] = size_of(results[i].type.dtype);
    plan->result_at[p.inputs.size() + i] = results[i].offset;
  }
  for (int i = 0; i < plan->inputs; ++i)
    if (plan->loops.inner_strides[i] > 1) plan->gathered.push_back(i);
  plan->divides_integers = divides_integers(p);
  return plan;
}

// Units are blocks of rows; rows that are one block each run together, and so do neighbouring blocks of a long row,
// unless operands are gathered.
void run_elements(const Call& call, const GeneratedElements& plan) {
  const int64_t inner = plan.loops.inner, per_row = (inner + kBlock - 1) / kBlock;
  const Range mine = share(plan.loops.outer * per_row, call.part, call.parts);
  int64_t offsets[kMaxLoopOperands] = {};
  for (int64_t unit = mine.begin; unit < mine.end;) {
    const int64_t row = unit / per_row, first = unit % per_row;
    outer_offsets(plan.loops, row, offsets);
    Run run = run_at(plan, call, offsets, first * kBlock);
    const int64_t blocks = plan.gathered.empty() ? std::min(per_row - first, mine.end - unit) : 1;
    run.elements = std::min(inner, (first + blocks) * kBlock) - first * kBlock;
    if (per_row == 1) run.rows = rows_at_once(plan, row, mine.end);
    report_zeros(plan, call, run);
    plan.gathered.empty() ? run_rows(plan, run) : run_gathered(plan, run);
    unit += blocks * run.rows;
  }
}

namespace {

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  return supports_elements(p, kVectors<isa>);
}

template <CpuIsa isa>
std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  return std::const_pointer_cast<GeneratedElements>(plan_elements(p, kVectors<isa>));
}

void run(const Call& call) { run_elements(call, *static_cast<const GeneratedElements*>(call.state)); }

template <CpuIsa isa>
constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name,
          .op = op,
          .supports = supports<isa>,
          .run = run,
          .prepare = prepare<isa>,
          .split = split_by_elements};
}

}  // namespace

#define RUNG_GENERATED(op)                                                                       \
  extern const Kernel op##_generated_avx512 = row<CpuIsa::avx512>(#op "_generated_avx512", #op); \
  extern const Kernel op##_generated_avx2 = row<CpuIsa::avx2>(#op "_generated_avx2", #op);
RUNG_GENERATED(unary)
RUNG_GENERATED(binary)
RUNG_GENERATED(cast)
RUNG_GENERATED(select)
RUNG_GENERATED(formula)
RUNG_GENERATED(gated_mul)
RUNG_GENERATED(pointwise)

}  // namespace rung::cpu

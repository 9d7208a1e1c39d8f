// Rows of the element-wise ops as generated code: assembled when a session opens, for the op, its types and its
// strides.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/collapse.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/generated/code.hpp"
#include "kernels/generated/lower.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

using generated::VectorSet;

constexpr int64_t kBlock = 512;  // elements of a row that are one unit of work
constexpr int kMostInputs = kMaxLoopOperands - 1;

// The loops around the code, and what one call of it takes.
struct GeneratedPlan {
  Loops loops;  // over the operands, then the result
  std::shared_ptr<const generated::Code> code;
  int64_t lanes = 0;  // the elements of a vector
  bool whole_vectors = false;
  size_t bytes[kMaxLoopOperands] = {};  // of an element, by operand; the result's last
  std::vector<int> gathered;            // operands whose elements are not neighbours
  bool divides_integers = false;
};

Loops loops_of(const Problem& p) {
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) strides.push_back(broadcast_strides(x, p.output.shape));
  strides.push_back(contiguous_strides(p.output.shape));
  return collapse(p.output.shape, strides);
}

std::vector<bool> same_operands(const Loops& loops) {
  std::vector<bool> same;
  for (int i = 0; i + 1 < loops.operands; ++i) same.push_back(loops.inner_strides[i] == 0);
  return same;
}

template <CpuIsa isa>
constexpr VectorSet kVectors = isa == CpuIsa::avx512 ? VectorSet::avx512 : VectorSet::avx2;

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (static_cast<int>(p.inputs.size()) > kMostInputs)
    return reject(fmt::format("{} operands, wanted at most {}", p.inputs.size(), kMostInputs));
  if (auto body = generated::lower(p, kVectors<isa>); !body) return reject(body.error().message);
  return generated::may_execute();
}

bool divides_integers(const Problem& p) {
  return !is_float(p.inputs[0].dtype) && fault_of(p) == Fault::integer_divided_by_zero;
}

template <CpuIsa isa>
std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  auto plan = std::make_shared<GeneratedPlan>();
  plan->loops = loops_of(p);
  auto body = generated::lower(p, kVectors<isa>);
  if (!body) return plan;
  plan->code = generated::code_of(kVectors<isa>, *body, same_operands(plan->loops));
  plan->lanes = generated::lanes_of(kVectors<isa>);
  plan->whole_vectors = isa == CpuIsa::avx2;
  for (size_t i = 0; i < p.inputs.size(); ++i) plan->bytes[i] = size_of(p.inputs[i].dtype);
  plan->bytes[p.inputs.size()] = size_of(p.output.dtype);
  for (int i = 0; i + 1 < plan->loops.operands; ++i)
    if (plan->loops.inner_strides[i] > 1) plan->gathered.push_back(i);
  plan->divides_integers = divides_integers(p);
  return plan;
}

// A run of elements of one row: where its operands begin, how many there are.
struct Run {
  void* addresses[kMaxLoopOperands] = {};
  int64_t count = 0;
};

// Copies `count` elements that lie `stride` bytes apart next to one another.
void gather(const std::byte* from, int64_t stride, size_t bytes, int64_t count, std::byte* to) {
  const auto copy = [&]<size_t size>() {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * static_cast<int64_t>(size), from + i * stride, size);
  };
  bytes == 4   ? copy.template operator()<4>()
  : bytes == 2 ? copy.template operator()<2>()
               : copy.template operator()<1>();
}

// Runs the code on what may be part of a vector, by way of whole vectors beside the operands.
void run_part_of_vector(const GeneratedPlan& plan, Run run) {
  alignas(64) std::byte staged[kMaxLoopOperands][64] = {};
  const int last = plan.loops.operands - 1;
  std::byte* const out = static_cast<std::byte*>(run.addresses[last]);
  for (int i = 0; i <= last; ++i) {
    if (i < last && plan.loops.inner_strides[i] == 0) continue;
    if (i < last) std::memcpy(staged[i], run.addresses[i], static_cast<size_t>(run.count) * plan.bytes[i]);
    run.addresses[i] = staged[i];
  }
  plan.code->function()(run.addresses, plan.lanes);
  std::memcpy(out, staged[last], static_cast<size_t>(run.count) * plan.bytes[last]);
}

void run_dense(const GeneratedPlan& plan, Run run) {
  if (!plan.whole_vectors) return plan.code->function()(run.addresses, run.count);
  const int64_t whole = run.count / plan.lanes * plan.lanes;
  if (whole) plan.code->function()(run.addresses, whole);
  if (whole == run.count) return;
  for (int i = 0; i < plan.loops.operands; ++i)
    if (plan.loops.inner_strides[i] != 0)
      run.addresses[i] = static_cast<std::byte*>(run.addresses[i]) + whole * static_cast<int64_t>(plan.bytes[i]);
  run.count -= whole;
  run_part_of_vector(plan, run);
}

// Brings the elements of strided operands together, then runs the code; at most kBlock elements.
void run_block(const GeneratedPlan& plan, Run run) {
  std::byte gathered[kMostInputs][kBlock * 4];
  for (int i : plan.gathered) {
    const auto bytes = plan.bytes[i];
    gather(static_cast<const std::byte*>(run.addresses[i]), plan.loops.inner_strides[i] * static_cast<int64_t>(bytes),
           bytes, run.count, gathered[i]);
    run.addresses[i] = gathered[i];
  }
  run_dense(plan, run);
}

bool has_zero(const std::byte* from, size_t bytes, int64_t stride, int64_t count) {
  const std::byte zero[8] = {};
  for (int64_t i = 0; i < count; ++i)
    if (std::memcmp(from + i * stride, zero, bytes) == 0) return true;
  return false;
}

// Runs `count` elements from element `at` of a row on, whose operands begin at `offsets`.
void run_row(const GeneratedPlan& plan, const Call& call, const int64_t* offsets, Range of_row) {
  const int last = plan.loops.operands - 1;
  Run run{{}, of_row.count()};
  for (int i = 0; i <= last; ++i) {
    const void* base = i < last ? call.inputs[i] : call.output;
    const int64_t element = offsets[i] + of_row.begin * plan.loops.inner_strides[i];
    run.addresses[i] = static_cast<std::byte*>(const_cast<void*>(base)) + element * static_cast<int64_t>(plan.bytes[i]);
  }
  if (plan.divides_integers && has_zero(static_cast<const std::byte*>(run.addresses[1]), plan.bytes[1],
                                        plan.loops.inner_strides[1] * static_cast<int64_t>(plan.bytes[1]), run.count))
    call.fault->store(Fault::integer_divided_by_zero, std::memory_order_relaxed);
  plan.gathered.empty() ? run_dense(plan, run) : run_block(plan, run);
}

// Units are blocks of rows. Neighbours of a row are run at once, unless operands must be gathered block by block.
void run(const Call& call) {
  const auto& plan = *static_cast<const GeneratedPlan*>(call.state);
  if (!plan.code) return call.fault->store(Fault::kernel_threw, std::memory_order_relaxed);
  const int64_t inner = plan.loops.inner, per_row = (inner + kBlock - 1) / kBlock;
  const Range mine = share(plan.loops.outer * per_row, call.part, call.parts);
  int64_t offsets[kMaxLoopOperands] = {};
  for (int64_t unit = mine.begin; unit < mine.end;) {
    const int64_t row = unit / per_row, first = unit % per_row;
    const int64_t units = plan.gathered.empty() ? std::min(per_row - first, mine.end - unit) : 1;
    outer_offsets(plan.loops, row, offsets);
    run_row(plan, call, offsets, {first * kBlock, std::min(inner, (first + units) * kBlock)});
    unit += units;
  }
}

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

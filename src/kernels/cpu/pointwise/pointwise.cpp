// Rows of the interpreter of element-wise ops: each op becomes a program. Generated code is preferred where it runs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/pointwise/pointwise.hpp"

#include "ir/with_type.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/elementwise_program.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

// Gives slots to registers; a result's slot is free again after its last reader.
class Compiler {
 public:
  Compiler(const PointwiseProgram& program, PointwisePlan& plan) : program_(program), plan_(plan) {}

  bool run() {
    plan_.inputs = static_cast<int>(program_.inputs);
    if (program_.inputs > kMaxPointwiseInputs || program_.instructions.size() > kMaxPointwiseSteps) return false;
    find_literals_and_last_uses();
    plan_.slots = plan_.inputs + plan_.literals;
    for (size_t i = 0; i < program_.inputs; ++i) slot_.push_back(static_cast<uint8_t>(i));
    for (size_t i = 0; i < program_.instructions.size() && plan_.slots < kMaxPointwiseSlots; ++i) add(i);
    if (program_.instructions.empty()) plan_.step[plan_.steps++] = {Code::copy, {0, 0, 0}, 0};
    return plan_.slots < kMaxPointwiseSlots;
  }

 private:
  void find_literals_and_last_uses() {
    last_use_.assign(program_.registers(), 0);
    for (size_t i = 0; i < program_.instructions.size(); ++i)
      for (size_t j = 0; j < program_.instructions[i].arity(); ++j) {
        const auto& from = program_.instructions[i].operands[j];
        if (const auto* reg = std::get_if<Register>(&from))
          last_use_[static_cast<size_t>(reg->index)] = i;
        else if (plan_.literals < kMaxPointwiseSlots)
          plan_.literal[plan_.literals++] = std::get<float>(from);
      }
  }

  uint8_t source(const PointwiseOperand& from) {
    if (const auto* reg = std::get_if<Register>(&from)) return slot_[static_cast<size_t>(reg->index)];
    return static_cast<uint8_t>(plan_.inputs + next_literal_++);
  }

  // The target takes its slot before the operands' slots are freed: steps read and write different blocks.
  void add(size_t i) {
    const auto& instruction = program_.instructions[i];
    PointwiseStep step{code_of(instruction.function), {0, 0, 0}, 0};
    for (size_t j = 0; j < instruction.arity(); ++j) step.from[j] = source(instruction.operands[j]);
    if (free_.empty()) free_.push_back(static_cast<uint8_t>(plan_.slots++));
    step.to = free_.back();
    free_.pop_back();
    slot_.push_back(step.to);
    for (size_t reg = program_.inputs; reg < program_.inputs + i; ++reg)
      if (last_use_[reg] == i) free_.push_back(slot_[reg]);
    plan_.step[plan_.steps++] = step;
  }

  const PointwiseProgram& program_;
  PointwisePlan& plan_;
  std::vector<size_t> last_use_;  // by register
  std::vector<uint8_t> slot_;     // by register
  std::vector<uint8_t> free_;
  int next_literal_ = 0;
};

bool make_plan(const Problem& p, PointwisePlan& plan) {
  auto program = program_of(p);
  if (!program || !is_interpreted(*program) || !Compiler(*program, plan).run()) return false;
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) strides.push_back(broadcast_strides(x, p.output.shape));
  strides.push_back(contiguous_strides(p.output.shape));
  plan.loops = collapse(p.output.shape, strides);
  for (size_t i = 0; i < p.inputs.size(); ++i) plan.input[i] = p.inputs[i].dtype;
  plan.out = p.output.dtype;
  return true;
}

// Values pass through f32, which is exact for bool and floats; only ops that convert integers to floats may read them.
Verdict supports_types(const Problem& p) {
  bool conversion = as<Cast>(p.op) != nullptr;
  for (const Operand& x : p.inputs)
    if (!is_computed_float(x.dtype) && x.dtype != DType::boolean && !(conversion && !is_f8(x.dtype)))
      return reject("integers");
  if (!is_computed_float(p.output.dtype) && p.output.dtype != DType::boolean) return reject("integers");
  return accept();
}

Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<CpuIsa::avx2>(cpu); !verdict) return verdict;
  if (auto verdict = supports_types(p); !verdict) return verdict;
  if (const auto program = program_of(p); program)
    if (auto verdict = is_interpreted(*program); !verdict) return verdict;
  PointwisePlan plan{};
  return make_plan(p, plan) ? accept() : reject("more operands, steps or values at once than the interpreter has");
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  auto plan = std::make_shared<PointwisePlan>();
  make_plan(p, *plan);
  return plan;
}

size_t thread_floats(const PointwisePlan& plan) { return static_cast<size_t>(plan.slots * kPointwiseBlock); }
size_t scratch_bytes(const Problem& p, const Machine&) {
  PointwisePlan plan{};
  make_plan(p, plan);
  return sizeof(float) * thread_floats(plan) * static_cast<size_t>(p.threads);
}

void run(const Call& call) {
  const auto& plan = *static_cast<const PointwisePlan*>(call.state);
  int64_t per_row = (plan.loops.inner + kPointwiseBlock - 1) / kPointwiseBlock;
  Range mine = share(plan.loops.outer * per_row, call.part, call.parts);
  float* scratch = static_cast<float*>(call.scratch) + thread_floats(plan) * static_cast<size_t>(call.thread);
  PointwiseWork work{&plan, call.inputs, call.output, scratch, mine.begin, mine.end};
  if (mine.begin < mine.end) avx2::pointwise(work);
}

constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name,
          .op = op,
          .supports = supports,
          .run = run,
          .scratch_bytes = scratch_bytes,
          .prepare = prepare,
          .split = split_by_elements};
}

}  // namespace

extern const Kernel unary_avx2 = row("unary_avx2", "unary");
extern const Kernel binary_avx2 = row("binary_avx2", "binary");
extern const Kernel cast_avx2 = row("cast_avx2", "cast");
extern const Kernel select_avx2 = row("select_avx2", "select");
extern const Kernel gated_mul_avx2 = row("gated_mul_avx2", "gated_mul");
extern const Kernel pointwise_avx2 = row("pointwise_avx2", "pointwise");

}  // namespace rung::cpu

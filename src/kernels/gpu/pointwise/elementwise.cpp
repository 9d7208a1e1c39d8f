// Rows of the element-wise ops: each op becomes a program whose values have slots, and one interpreter runs them all.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise_program.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/pointwise/elementwise_arguments.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ElementwiseConfig> kVariants[] = {
#include "kernels/gpu/pointwise/elementwise.inc"
};

// A compiled program has its literals collected, and slots for the values that outlive the next step.
struct Compiled {
  std::vector<ElementwiseStep> steps;
  std::vector<float> literals;
  size_t slots = 0;
};

class Compiler {
 public:
  explicit Compiler(const PointwiseProgram& program) : program_(program), slot_(program.registers(), kNowhere) {
    last_use_.assign(program.registers(), 0);
    for (size_t i = 0; i < program.instructions.size(); ++i)
      for (size_t j = 0; j < program.instructions[i].arity(); ++j)
        if (const auto* from = reg(i, j)) last_use_[static_cast<size_t>(from->index)] = i;
  }

  Compiled run() {
    for (; out_.slots < program_.inputs; ++out_.slots) slot_[out_.slots] = static_cast<uint8_t>(out_.slots);
    for (size_t i = 0; i < program_.instructions.size(); ++i) add(i);
    return std::move(out_);
  }

 private:
  const Register* reg(size_t i, size_t j) const { return std::get_if<Register>(&program_.instructions[i].operands[j]); }

  uint8_t source(size_t i, size_t j) {
    const auto* from = reg(i, j);
    if (from) {
      auto index = static_cast<size_t>(from->index);
      return index == (i == 0 ? 0 : program_.inputs + i - 1) ? kPrevious : slot_[index];
    }
    out_.literals.push_back(std::get<float>(program_.instructions[i].operands[j]));
    return static_cast<uint8_t>(kFirstLiteral + out_.literals.size() - 1);
  }

  // Operands are read before the result is written, so the result may take the slot of an operand used here last.
  void add(size_t i) {
    ElementwiseStep step{code_of(program_.instructions[i].function), {0, 0, 0}, kNowhere};
    for (size_t j = 0; j < program_.instructions[i].arity(); ++j) step.from[j] = source(i, j);
    size_t target = program_.inputs + i;
    for (size_t r = 0; r < target; ++r)
      if (last_use_[r] == i && slot_[r] != kNowhere) free_.push_back(slot_[r]), slot_[r] = kNowhere;
    if (last_use_[target] > i + 1) step.to = slot_[target] = take_slot();
    out_.steps.push_back(step);
  }

  uint8_t take_slot() {
    if (free_.empty()) return static_cast<uint8_t>(out_.slots++);
    uint8_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  const PointwiseProgram& program_;
  Compiled out_;
  std::vector<size_t> last_use_;  // by register
  std::vector<uint8_t> slot_;     // by register; kNowhere: none
  std::vector<uint8_t> free_;
};

// An op on integers computes in 64 bits; a pointwise program computes in f32 whatever it reads.
bool is_integer_op(const Problem& p) {
  if (as<Pointwise>(p.op)) return false;
  for (const Operand& x : p.inputs)
    if (!is_float(x.dtype) && x.dtype != DType::boolean) return true;
  return false;
}

bool is_vector_type(DType d) { return is_computed_float(d) || d == DType::boolean; }

Loops loops_of(const Problem& p) {
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) strides.push_back(broadcast_strides(x, p.output.shape));
  strides.push_back(p.output.strides);
  return collapse(p.output.shape, strides);
}

// Returns whether runs of eight along the inner axis are whole and, where dense, aligned in memory.
bool runs_of_eight(const Call& call, const Loops& loops) {
  const Problem& p = call.problem;
  constexpr size_t run = kElementwiseRun;
  auto aligned = [](Address address, DType type) { return address % std::min<size_t>(16, run * size_of(type)) == 0; };
  if (loops.inner % kElementwiseRun || !is_vector_type(p.output.dtype) || !aligned(call.output, p.output.dtype))
    return false;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (loops.inner_strides[i] != 1) continue;
    if (!is_vector_type(p.inputs[i].dtype) || !aligned(call.inputs[i], p.inputs[i].dtype)) return false;
    for (int axis = 0; axis < loops.rank; ++axis)
      if (loops.strides[axis][i] % kElementwiseRun) return false;
  }
  return true;
}

Result<Compiled> compile(const Problem& p) {
  RUNG_TRY(PointwiseProgram program, program_of(p));
  if (auto verdict = is_interpreted(program); !verdict) return fail("{}", verdict.reason);
  if (program.inputs > kMaxElementwiseInputs || program.instructions.size() > kMaxElementwiseSteps)
    return fail("{} operands and {} steps; the interpreter has {} and {}", program.inputs, program.instructions.size(),
                kMaxElementwiseInputs, kMaxElementwiseSteps);
  Compiled compiled = Compiler(program).run();
  if (compiled.literals.size() > kMaxElementwiseLiterals)
    return fail("{} literals; the interpreter has {}", compiled.literals.size(), kMaxElementwiseLiterals);
  return compiled;
}

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  if (auto verdict = supports_count(p.output.shape); !verdict) return verdict;
  auto compiled = compile(p);
  return compiled ? accept() : reject(compiled.error().message);
}

ElementwiseArguments arguments_for(const Call& call, const Compiled& compiled, const Loops& loops, int64_t run) {
  const Problem& p = call.problem;
  ElementwiseArguments a{};
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    a.input[i] = call.inputs[i];
    a.type[i] = p.inputs[i].dtype;
    a.inner_stride[i] = loops.inner_strides[i];
  }
  a.output = call.output, a.out = p.output.dtype, a.fault = call.fault;
  Loops operands = loops;
  operands.operands = static_cast<int>(p.inputs.size());  // the result is dense
  a.nest = make_nest<kMaxElementwiseInputs>(operands, run);
  a.inputs = static_cast<int32_t>(p.inputs.size()), a.steps = static_cast<int32_t>(compiled.steps.size());
  std::copy(compiled.literals.begin(), compiled.literals.end(), a.literal);
  std::copy(compiled.steps.begin(), compiled.steps.end(), a.step);
  return a;
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  RUNG_TRY(Compiled compiled, compile(p));
  Loops loops = loops_of(p);
  bool integers = is_integer_op(p), vectors = !integers && runs_of_eight(call, loops);
  const int run = vectors ? kElementwiseRun : 1;
  ElementwiseArguments arguments = arguments_for(call, compiled, loops, run);
  uint32_t slot_bytes = static_cast<uint32_t>(run) * static_cast<uint32_t>(compiled.slots) * 4;
  const GpuInfo& gpu = call.gpu.info();
  uint32_t threads = slot_bytes * kElementwiseThreads > (96u << 10) ? kElementwiseThreads / 2 : kElementwiseThreads;
  while (slot_bytes * threads > gpu.shared_bytes_per_block && threads > 1) threads /= 2;
  Launch shape = launch_threads(call, arguments.nest.count, threads);
  if (integers) return call.launch("elementwise", "elementwise_integer", shape, arguments);
  shape.shared_bytes = slot_bytes * threads;
  const auto* variant =
      find(kVariants, [&](const auto& c) { return c.run == run && c.inputs >= static_cast<int>(p.inputs.size()); });
  return variant ? call.launch("elementwise", variant->symbol, shape, arguments) : call.no_kernel("elementwise");
}

// A thread reads its elements before it writes them: `updates` names an operand that may be the result's memory.
constexpr Kernel row(std::string_view name, std::string_view op, int updates = -1) {
  return {.name = name, .op = op, .supports = supports, .updates = updates, .enqueue = enqueue};
}

}  // namespace

extern const Kernel unary_gpu = row("unary_gpu", "unary");
extern const Kernel binary_gpu = row("binary_gpu", "binary", 0);
extern const Kernel cast_gpu = row("cast_gpu", "cast");
extern const Kernel select_gpu = row("select_gpu", "select");
extern const Kernel gated_mul_gpu = row("gated_mul_gpu", "gated_mul");
extern const Kernel pointwise_gpu = row("pointwise_gpu", "pointwise");

}  // namespace rung::gpu

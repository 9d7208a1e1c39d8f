// Reference row of pointwise: the program, interpreted element by element.
// SPDX-License-Identifier: Apache-2.0
#include "ir/pointwise.hpp"

#include "kernels/cpu/element.hpp"
#include "kernels/cpu/scalar_math.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

constexpr size_t kMaxInputs = 8, kMaxRegisters = 64;

Verdict supports(const Problem& p, const Machine&) {
  auto program = parse_pointwise(p.as<Pointwise>().program, p.inputs.size());
  if (!program) return reject(program.error().message);
  if (program->inputs > kMaxInputs) return reject(fmt::format("{} operands, at most {}", program->inputs, kMaxInputs));
  if (program->registers() > kMaxRegisters)
    return reject(fmt::format("{} registers, at most {}", program->registers(), kMaxRegisters));
  return accept();
}

std::shared_ptr<void> prepare(const Problem& p) {
  return std::make_shared<PointwiseProgram>(*parse_pointwise(p.as<Pointwise>().program, p.inputs.size()));
}

float value(const PointwiseOperand& operand, const float* registers) {
  if (auto* literal = std::get_if<float>(&operand)) return *literal;
  return registers[std::get<Register>(operand).index];
}

float execute(const PointwiseInstruction& instruction, const float* registers) {
  auto arg = [&](size_t i) { return value(instruction.operands[i], registers); };
  if (auto* unary = std::get_if<UnaryKind>(&instruction.function)) return scalar(*unary, arg(0));
  if (auto* binary = std::get_if<BinaryKind>(&instruction.function)) return scalar(*binary, arg(0), arg(1));
  if (auto* round = std::get_if<Round>(&instruction.function)) {
    float rounded = 0;
    with_type(round->to, [&](auto tag) { rounded = static_cast<float>(static_cast<decltype(tag)>(arg(0))); });
    return rounded;
  }
  return arg(0) != 0.0f ? arg(1) : arg(2);
}

void run(const Call& call) {
  const Problem& p = call.problem;
  const auto& program = *static_cast<const PointwiseProgram*>(call.state);
  std::array<Strides, kMaxInputs> strides;
  strides.fill(Strides::filled(p.output.shape.rank(), 0));
  for (size_t i = 0; i < p.inputs.size(); ++i) strides[i] = broadcast_strides(p.inputs[i], p.output.shape);
  Range mine = share(p.output.shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<kMaxInputs> walk(p.output.shape, strides, mine.begin);
  float registers[kMaxRegisters];
  for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) {
    for (size_t r = 0; r < p.inputs.size(); ++r) registers[r] = load_f32(call.inputs[r], p.inputs[r].dtype, walk[r]);
    size_t next = program.inputs;
    for (const auto& instruction : program.instructions) registers[next] = execute(instruction, registers), ++next;
    store_f32(call.output, p.output.dtype, i, registers[next - 1]);
  }
}

}  // namespace

extern const Kernel pointwise_reference{.name = "pointwise_reference",
                                        .op = "pointwise",
                                        .supports = supports,
                                        .run = run,
                                        .prepare = prepare,
                                        .role = Role::fallback};

}  // namespace rung::cpu

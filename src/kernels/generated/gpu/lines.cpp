// Writes offsets, values and the frame around a kernel's body.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/lines.hpp"

#include "kernels/generated/gpu/function_text.hpp"
#include "kernels/generated/gpu/source.hpp"

namespace rung::gpu {

void GeneratedLines::offsets(const Loops& loops, std::string_view from) {
  line("uint32_t rest = {};", from);
  for (int axis = loops.rank - 1; axis >= 0; --axis) {
    line("const int64_t at{} = rest % {}u;", axis, loops.shape[axis]);
    line("rest /= {}u;", loops.shape[axis]);
  }
  for (size_t i = 0; i < work_.strides.size(); ++i) {
    std::string sum = "0";
    for (int axis = 0; axis < loops.rank; ++axis)
      if (loops.strides[axis][i] != 0) sum += fmt::format(" + at{} * {}", axis, loops.strides[axis][i]);
    line("const int64_t o{} = {};", i, sum);
  }
}

std::string GeneratedLines::place_of(const PointwiseOperand& operand, std::string_view element) const {
  if (const auto* value = std::get_if<float>(&operand)) return literal_text(*value);
  const int reg = std::get<Register>(operand).index;
  return fmt::format("r{}{}", reg, work_.rows[static_cast<size_t>(reg)] ? "" : element);
}

std::string GeneratedLines::value_of(const PointwiseInstruction& instruction, std::string_view element) const {
  std::array<std::string, 3> x;
  for (size_t j = 0; j < instruction.arity(); ++j) x[j] = place_of(instruction.operands[j], element);
  return call_text(instruction.function, x);
}

std::string entry_text(const GeneratedWork& work, uint32_t threads, const std::string& body) {
  return fmt::format(
      "#include \"generated.cuh\"\nstruct RungArguments {{ uint64_t operand[{}]; uint64_t result[8]; uint64_t fault; "
      "}};\n{}\n"
      "RUNG_KERNEL({}) {}(const RungArguments a) {{\n{}}}\n",
      kMaxGeneratedOperands, work.computes_integers() ? "" : function_definitions(work.program), threads,
      kGeneratedEntry, body);
}

}  // namespace rung::gpu

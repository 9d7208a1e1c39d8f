// Parses and prints pointwise programs.
// SPDX-License-Identifier: Apache-2.0
#include "ir/pointwise.hpp"

#include "ir/formulas.hpp"
#include "ir/functions.hpp"
#include "ir/program_text.hpp"

namespace rung {
namespace {

using program_text::function_named;

Result<PointwiseInstruction> parse_element(std::string_view line, size_t written) {
  RUNG_TRY(const program_text::Call call, program_text::parse_line(line, written));
  const auto function = function_named(call.name);
  if (!function) return fail("'{}' is not an element-wise function", call.name);
  return program_text::parse_operands(call, *function, written);
}

}  // namespace

size_t PointwiseInstruction::arity() const {
  if (std::holds_alternative<Select>(function)) return 3;
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return facts_of(*formula).operands;
  return std::holds_alternative<BinaryKind>(function) ? 2 : 1;
}

bool PointwiseInstruction::carries(size_t at) const {
  if (const auto* kind = std::get_if<BinaryKind>(&function)) return facts_of(*kind).carries[at];
  if (std::holds_alternative<Select>(function)) return at > 0;  // the condition is a bool
  return std::holds_alternative<Round>(function);
}

Result<PointwiseProgram> parse_pointwise(std::string_view text, size_t inputs) {
  PointwiseProgram program{inputs, {}};
  if (program_text::trim(text).empty()) return fail("the program is empty, wanted at least one instruction");
  while (!text.empty()) {
    std::string_view line = program_text::take_until(text, ';');
    auto instruction = parse_element(line, program.registers());
    if (!instruction) return fail("in '{}': {}", line, instruction.error().message);
    program.instructions.push_back(*instruction);
  }
  return program;
}

std::string print_pointwise(const PointwiseProgram& program) {
  std::string text;
  size_t target = program.inputs;
  for (const auto& instruction : program.instructions)
    text += fmt::format("{}r{}={}", text.empty() ? "" : ";", target++, program_text::print(instruction));
  return text;
}

}  // namespace rung

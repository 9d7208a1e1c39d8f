// The parts of a program's text that pointwise programs and regions share: registers, literals and calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/pointwise.hpp"

namespace rung::program_text {

std::string_view trim(std::string_view text);
// Removes the text before `mark` and the mark, and returns the text; all of it if there is no mark.
std::string_view take_until(std::string_view& text, char mark);
std::optional<int> parse_register(std::string_view text);

// "mul(r0,0.5)", cut into its parts.
struct Call {
  std::string_view name, operands;
};
// Takes "r2=mul(r0,0.5)" apart, whose target must be the register after the `written` ones.
Result<Call> parse_line(std::string_view line, size_t written);
// Parses a register that holds a value where `written` do, or a literal.
Result<PointwiseOperand> parse_operand(std::string_view text, size_t written);
// Returns the element-wise function of that name; nullopt if there is none.
std::optional<PointwiseFunction> function_named(std::string_view name);
// Parses the operands of a call of the function.
Result<PointwiseInstruction> parse_operands(const Call& call, const PointwiseFunction& function, size_t written);

std::string print(const PointwiseOperand& operand);
std::string print(const PointwiseInstruction& instruction);  // without the target

}  // namespace rung::program_text

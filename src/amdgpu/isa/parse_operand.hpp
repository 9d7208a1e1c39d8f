// Parses words of an assembler's text: operands, and the modifiers behind them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/opcode_rows.hpp"

namespace rung::amdgpu {

// The number of a scalar operand that stands for a symbol's value: the same in all lanes, and not known.
inline constexpr uint16_t kSymbol = 255;

struct InstructionWords {
  std::string_view mnemonic;
  std::vector<std::string_view> operands, modifiers;  // separated by commas; by spaces
};
InstructionWords split_instruction(std::string_view line);

// Parses "42", "-0x10"; returns nothing if the word is no number of 64 bits.
std::optional<int64_t> parse_integer(std::string_view word);
// Returns the number in "offset:16" if `name` is "offset".
std::optional<int64_t> parse_modifier(const InstructionWords& words, std::string_view name);

// Parses a register, several, "off", or a constant in the form of `spec`'s type; a symbol is kSymbol.
InstructionOperand parse_operand(std::string_view word, const Spec& spec);

}  // namespace rung::amdgpu

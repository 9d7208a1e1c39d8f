// Words of an assembler's text: operands, and the modifiers behind them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/opcode_rows.hpp"

namespace rung::amdgpu {

// A scalar operand whose value is a symbol's: the same in all lanes, and not known.
inline constexpr uint16_t kSymbol = 255;

struct InstructionWords {
  std::string_view mnemonic;
  std::vector<std::string_view> operands, modifiers;  // split at commas; at spaces
};
InstructionWords split_instruction(std::string_view line);

// "42", "-0x10"; nothing: no number of 64 bits.
std::optional<int64_t> parse_integer(std::string_view word);
// The number in "offset:16" if `name` is "offset".
std::optional<int64_t> parse_modifier(const InstructionWords& words, std::string_view name);

// A register, several, "off", or a constant in the form of `spec`'s type; a symbol is kSymbol.
Operand parse_operand(std::string_view word, const Spec& spec);

}  // namespace rung::amdgpu

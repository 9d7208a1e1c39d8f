// Words of the code and bits of a word, shared by the decoders of the formats. Internal to decode*.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/isa/operand_codes.hpp"

namespace rung::amdgpu {

// Returns `count` bits of `word` from bit `first`.
constexpr uint32_t bits(uint32_t word, int first, int count) { return word >> first & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, int place) { return word >> place & 1; }
constexpr int32_t sign_extend(uint32_t value, int width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

struct Code {
  std::span<const std::byte> bytes;
  Isa isa{};
  uint32_t first = 0;  // words 0 and 1
  std::optional<uint32_t> second;
  std::optional<uint32_t> word(size_t index) const {
    uint32_t value;
    if (bytes.size() < 4 * index + 4) return std::nullopt;
    std::memcpy(&value, bytes.data() + 4 * index, 4);
    return value;
  }
  const Row* row(Encoding encoding, uint32_t number) const { return find_row(encoding, number, isa); }
};

inline Instruction begin(const Row& row, Encoding encoding, int size) {
  Instruction instruction;
  instruction.opcode = row.opcode;
  instruction.encoding = encoding;
  instruction.bytes = static_cast<uint8_t>(size);
  return instruction;
}

// Puts one operand; returns false if there is none.
inline bool put(InstructionOperand& place, const std::optional<InstructionOperand>& operand) {
  if (operand) place = *operand;
  return operand.has_value();
}
inline bool put_source(Instruction& instruction, const std::optional<InstructionOperand>& operand) {
  return put(instruction.sources[instruction.source_count++], operand);
}
inline InstructionOperand vcc_pair() {
  InstructionOperand operand{OperandKind::scalar, Type::b64, 2};
  operand.number = kVcc;
  return operand;
}
inline bool is_literal(const InstructionOperand& operand) { return operand.literal; }

using Decoded = std::optional<Instruction>;
Decoded decode_short_vector(const Code& code);  // VOP1, VOP2, VOPC with SDWA and DPP
Decoded decode_long_vector(const Code& code);   // VOP3, VOP3P, MAI
Decoded decode_scalar(const Code& code);        // SOP*
Decoded decode_scalar_memory(const Code& code);
Decoded decode_lds(const Code& code);
Decoded decode_flat(const Code& code);
Decoded decode_buffer(const Code& code);

}  // namespace rung::amdgpu

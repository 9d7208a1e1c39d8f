// Writes instructions as llvm-objdump does.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/decode.hpp"
#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/isa/text_parts.hpp"

namespace rung::amdgpu {
namespace {

// Writes a plain source if SDWA extends it by its sign.
std::string source_text(const Instruction& made, const Row& row, size_t s) {
  const InstructionOperand& source = made.sources[s];
  if (source.literal && (row.flags & kNoE64) && row.source_count == 3 && is_inner_literal(made.opcode, s))
    return hex(source.bits);  // part of each such instruction, never an inline constant
  if (made.is_sdwa && s < 2 && made.sdwa.sext[s]) return "sext(" + register_text(source) + ")";
  const bool packed = row.flags & (kPacked | kNoPacked) && made.encoding == Encoding::vop3p;
  return packed ? register_text(source) : operand_text(source);
}

std::string operand_list(const Instruction& made, const Row& row) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? " " : ", ") + part; };
  if (made.destination.kind != OperandKind::none) add(register_text(made.destination));
  if (made.carry_out.kind != OperandKind::none) add(register_text(made.carry_out));
  for (size_t s = 0; s < made.source_count; ++s) add(source_text(made, row, s));
  return text;
}

bool is_memory(Encoding encoding) { return encoding == Encoding::smem || encoding >= Encoding::ds; }

}  // namespace

std::string_view name_of(Opcode opcode) {
  static constexpr std::string_view kNames[] = {
#define RUNG_AMD_OPCODE(name) #name,
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
  };
  return kNames[static_cast<size_t>(opcode)];
}

std::string_view suffix_of(const Instruction& instruction) {
  if (instruction.is_sdwa) return "_sdwa";
  if (instruction.is_dpp) return "_dpp";
  const Row& row = row_of(instruction.opcode);
  const bool has_both =
      row.encoding == Encoding::vop1 || row.encoding == Encoding::vop2 || row.encoding == Encoding::vopc;
  if (!has_both || (row.flags & kNoE64) || row.destination.form == Spec::Form::none) return "";
  return instruction.encoding == Encoding::vop3 ? "_e64" : "_e32";
}

std::string to_text(const Instruction& instruction, Isa isa) {
  const Row& row = row_of(instruction.opcode);
  std::string text = std::string(name_of(instruction.opcode)) + std::string(suffix_of(instruction));
  if (is_memory(instruction.encoding))
    return text + memory_operands(instruction, row) + memory_modifiers(instruction, row, isa);
  if (instruction.encoding == Encoding::sopk || instruction.encoding == Encoding::sopp)
    return text + scalar_immediate(instruction, isa);
  text += operand_list(instruction, row);
  if (instruction.opcode == Opcode::s_set_gpr_idx_on) return text + "," + scalar_immediate(instruction, isa);
  return text + vector_modifiers(instruction, row, isa);
}

}  // namespace rung::amdgpu

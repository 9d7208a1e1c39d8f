// Tells an instruction's format from its first bits, and decodes the formats of scalar instructions.
// SPDX-License-Identifier: Apache-2.0
// Source: the chapter on microcode formats in AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3
// and 4.
#include "amdgpu/isa/decode.hpp"

#include "amdgpu/isa/decode_parts.hpp"

namespace rung::amdgpu {
namespace {

// A scalar instruction has a literal word behind it only if an operand names it.
bool put_scalar_source(const Code& code, Instruction& instruction, uint32_t number, const Spec& spec) {
  if (spec.form == Spec::Form::none) return true;
  if (spec.form == Spec::Form::simm) {
    instruction.immediate = static_cast<int32_t>(number);
    return true;
  }
  if (!put_source(instruction, source_operand(number, spec, code.second))) return false;
  if (instruction.sources[instruction.source_count - 1].literal) instruction.bytes = 8;
  return true;
}

bool put_scalar_destination(Instruction& instruction, uint32_t number, const Spec& spec) {
  return spec.form == Spec::Form::none || put(instruction.destination, scalar_register(number, spec));
}

Decoded decode_sop1(const Code& code) {
  const Row* row = code.row(Encoding::sop1, bits(code.first, 8, 8));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::sop1, 4);
  if (!put_scalar_destination(made, bits(code.first, 16, 7), row->destination)) return std::nullopt;
  if (!put_scalar_source(code, made, bits(code.first, 0, 8), row->sources[0])) return std::nullopt;
  return made;
}

// SOP2 and SOPC differ in the place of their number, and in the destination.
Decoded decode_two_scalars(const Code& code, Encoding encoding) {
  const bool two = encoding == Encoding::sop2;
  const Row* row = code.row(encoding, two ? bits(code.first, 23, 7) : bits(code.first, 16, 7));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, encoding, 4);
  if (two && !put_scalar_destination(made, bits(code.first, 16, 7), row->destination)) return std::nullopt;
  if (!put_scalar_source(code, made, bits(code.first, 0, 8), row->sources[0])) return std::nullopt;
  if (!put_scalar_source(code, made, bits(code.first, 8, 8), row->sources[1])) return std::nullopt;
  return made;
}

Decoded decode_sopk(const Code& code) {
  const Row* row = code.row(Encoding::sopk, bits(code.first, 23, 5));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::sopk, 4);
  made.immediate = sign_extend(bits(code.first, 0, 16), 16);
  if (row->opcode == Opcode::s_setreg_imm32_b32) {
    if (!code.second) return std::nullopt;
    made.bytes = 8;
    put_source(made, literal_operand(*code.second, Type::b32));
    return made;
  }
  const uint32_t number = bits(code.first, 16, 7);
  if (!put_scalar_destination(made, number, row->destination)) return std::nullopt;
  if (row->source_count > 0 && !put_source(made, scalar_register(number, row->sources[0]))) return std::nullopt;
  return made;
}

Decoded decode_sopp(const Code& code) {
  const Row* row = code.row(Encoding::sopp, bits(code.first, 16, 7));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::sopp, 4);
  made.immediate = sign_extend(bits(code.first, 0, 16), 16);
  return made;
}

}  // namespace

Decoded decode_scalar(const Code& code) {
  switch (code.first >> 23) {
    case 0x17d:
      return decode_sop1(code);
    case 0x17e:
      return decode_two_scalars(code, Encoding::sopc);
    case 0x17f:
      return decode_sopp(code);
    default:
      break;
  }
  return code.first >> 28 == 0xb ? decode_sopk(code) : decode_two_scalars(code, Encoding::sop2);
}

std::optional<Instruction> decode(std::span<const std::byte> bytes, Isa isa) {
  Code code{bytes, isa};
  const std::optional<uint32_t> first = code.word(0);
  if (!first) return std::nullopt;
  code.first = *first;
  code.second = code.word(1);
  if (code.first >> 31 == 0) return decode_short_vector(code);
  if (code.first >> 30 == 2) return decode_scalar(code);
  if (!code.second) return std::nullopt;  // all others have two words
  switch (code.first >> 26) {
    case 0x30:
      return decode_scalar_memory(code);
    case 0x34:
      return decode_long_vector(code);
    case 0x36:
      return decode_lds(code);
    case 0x37:
      return decode_flat(code);
    case 0x38:
      return decode_buffer(code);
    default:
      return std::nullopt;
  }
}

}  // namespace rung::amdgpu

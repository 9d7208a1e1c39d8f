// Decodes vector instructions: the short formats with their SDWA and DPP words, VOP3, VOP3P and matrix products.
// SPDX-License-Identifier: Apache-2.0
// Source: the chapter on microcode formats in AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3
// and 4.
#include "amdgpu/isa/decode_parts.hpp"

namespace rung::amdgpu {
namespace {

bool put_vector_destination(Instruction& made, uint32_t number, const Spec& spec, bool accumulator = false) {
  switch (spec.form) {
    case Spec::Form::none:
      return true;
    case Spec::Form::mask:
    case Spec::Form::scalar:
      return number < 128 && put(made.destination, scalar_register(number, spec));
    default:
      break;
  }
  if (!fits(number, spec.registers)) return false;
  made.destination = vector_register(number, spec, accumulator);
  return true;
}

// Sources of floating-point types and those of v_cndmask can be negated; for others the bits mean nothing.
bool has_sign(const Instruction& made, Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f64:
    case Type::pk_f16:
    case Type::pk_bf16:
    case Type::pk_f32:
      return true;
    default:
      return made.opcode == Opcode::v_cndmask_b32;
  }
}

void put_signs(Instruction& made, int source, bool neg, bool abs) {
  InstructionOperand& operand = made.sources[static_cast<size_t>(source)];
  if (has_sign(made, operand.type)) operand.neg = neg, operand.abs = abs;
}

void apply_sdwa(Instruction& made, const Row& row, uint32_t word) {
  made.is_sdwa = true;
  Sdwa& sdwa = made.sdwa;
  if (row.encoding != Encoding::vopc) {
    sdwa.destination = static_cast<Select>(bits(word, 8, 3));
    sdwa.unused = static_cast<Unused>(bits(word, 11, 2));
    made.clamp = bit(word, 13);
    made.omod = static_cast<uint8_t>(bits(word, 14, 2));
  }
  for (int s = 0; s < 2 && s < row.source_count; ++s) {
    const int first = 16 + 8 * s;
    sdwa.source[s] = static_cast<Select>(bits(word, first, 3));
    sdwa.sext[s] = bit(word, first + 3);
    put_signs(made, s, bit(word, first + 4), bit(word, first + 5));
  }
}

bool sdwa_is_valid(const Row& row, uint32_t word) {
  const bool selects = bits(word, 16, 3) < 7 && (row.source_count < 2 || bits(word, 24, 3) < 7);
  return selects && (row.encoding == Encoding::vopc || (bits(word, 8, 3) < 7 && bits(word, 11, 2) < 3));
}

// An SDWA source is a vector register, or a scalar operand if its bit says so.
std::optional<InstructionOperand> sdwa_source(uint32_t number, bool is_scalar, const Spec& spec) {
  return source_operand(is_scalar ? number : number + kFirstVgpr, spec, std::nullopt);
}

Decoded decode_sdwa(const Code& code, const Row& row, Instruction made) {
  if (!code.second || !sdwa_is_valid(row, *code.second)) return std::nullopt;
  const uint32_t word = *code.second;
  made.bytes = 8;
  if (row.source_count > 0 && !put_source(made, sdwa_source(bits(word, 0, 8), bit(word, 23), row.sources[0])))
    return std::nullopt;
  if (row.source_count > 1) {
    const uint32_t number = bits(code.first, 9, 8);
    if (!put_source(made, sdwa_source(number, bit(word, 31), row.sources[1]))) return std::nullopt;
  }
  if (row.encoding == Encoding::vopc && bit(word, 15) &&
      !put(made.destination, scalar_register(bits(word, 8, 7), row.destination)))
    return std::nullopt;
  apply_sdwa(made, row, word);
  return made;
}

Decoded decode_dpp(const Code& code, const Row& row, Instruction made) {
  if (!code.second || row.encoding == Encoding::vopc) return std::nullopt;
  const uint32_t word = *code.second;
  made.bytes = 8;
  made.is_dpp = true;
  made.dpp = {static_cast<uint16_t>(bits(word, 8, 9)), static_cast<uint8_t>(bits(word, 28, 4)),
              static_cast<uint8_t>(bits(word, 24, 4)), bit(word, 19)};
  const uint32_t numbers[] = {bits(word, 0, 8), bits(code.first, 9, 8)};
  for (int s = 0; s < 2 && s < row.source_count; ++s) {
    if (!put_source(made, source_operand(kFirstVgpr + numbers[s], row.sources[s], std::nullopt))) return std::nullopt;
    put_signs(made, s, bit(word, 20 + 2 * s), bit(word, 21 + 2 * s));
  }
  return made;
}

// Decodes the sources of an instruction of one word, perhaps with a literal behind it.
Decoded decode_plain(const Code& code, const Row& row, Instruction made) {
  const uint32_t numbers[] = {bits(code.first, 0, 9), kFirstVgpr + bits(code.first, 9, 8)};
  int field = 0;
  for (int s = 0; s < row.source_count; ++s) {
    const Spec& spec = row.sources[s];
    if (spec.form == Spec::Form::mask) continue;  // the caller adds vcc
    if (spec.form == Spec::Form::acc && numbers[field] < kFirstVgpr) return std::nullopt;
    const bool inner = is_inner_literal(row.opcode, static_cast<size_t>(s));
    if (!put_source(made, source_operand(inner ? kLiteralCode : numbers[field], spec, code.second)))
      return std::nullopt;
    if (!inner) ++field;
    if (made.sources[s].literal) made.bytes = 8;
    if (spec.form == Spec::Form::acc) made.sources[s].kind = OperandKind::agpr;
  }
  return made;
}

Decoded short_vector_sources(const Code& code, const Row& row, Instruction made) {
  const uint32_t first_source = bits(code.first, 0, 9);
  const bool has_more = first_source == kSdwaCode || first_source == kDppCode;
  if (has_more && row.source_count == 0) {  // v_nop has these forms, too, but they do nothing
    made.bytes = 8;
    return code.second ? Decoded(made) : std::nullopt;
  }
  if (first_source == kSdwaCode) return decode_sdwa(code, row, made);
  if (first_source == kDppCode) return decode_dpp(code, row, made);
  return decode_plain(code, row, made);
}

// v_bitop3 has a truth table in the place of other instructions' modifiers of sources.
int32_t bitop_table(const Code& code) {
  const uint32_t low = bits(*code.second, 29, 3), middle = bits(code.first, 8, 3), high = bits(*code.second, 27, 2);
  return static_cast<int32_t>(low | middle << 3 | high << 6);
}

void apply_vop3_modifiers(const Code& code, const Row& row, Instruction& made) {
  const bool has_halves = row.flags & (kOpSel | kOpSel4);
  made.clamp = bit(code.first, 15);
  if (row.flags & kBitop) made.immediate = bitop_table(code);
  const bool plain_bits = !(row.flags & kBitop);
  if (plain_bits) made.omod = static_cast<uint8_t>(bits(*code.second, 27, 2));
  made.op_sel_destination = has_halves && bit(code.first, 14);
  for (int s = 0; s < 3; ++s) {
    InstructionOperand& source = made.sources[s];
    put_signs(made, s, plain_bits && bit(*code.second, 29 + s),
              plain_bits && !row.destination.carry && bit(code.first, 8 + s));
    source.op_sel = has_halves && !row.destination.carry && bit(code.first, 11 + s);
  }
}

bool put_vop3_sources(const Code& code, const Row& row, Instruction& made) {
  for (int s = 0; s < row.source_count && s < 3; ++s) {
    const uint32_t number = bits(*code.second, 9 * s, 9);
    const bool accumulator = row.sources[s].form == Spec::Form::acc;
    if (accumulator && number < kFirstVgpr) return false;
    if (!put_source(made, source_operand(number, row.sources[s], std::nullopt))) return false;
    if (accumulator) made.sources[s].kind = OperandKind::agpr;
  }
  return true;
}

Decoded decode_vop3(const Code& code) {
  const Row* row = code.row(Encoding::vop3, bits(code.first, 16, 10));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::vop3, 8);
  if (!put_vector_destination(made, bits(code.first, 0, 8), row->destination)) return std::nullopt;
  if (row->destination.carry) {
    const Spec pair{Spec::Form::mask, Type::b64, 2};
    if (!put(made.carry_out, scalar_register(bits(code.first, 8, 7), pair))) return std::nullopt;
  }
  if (!put_vop3_sources(code, *row, made)) return std::nullopt;
  apply_vop3_modifiers(code, *row, made);
  return made;
}

void apply_packed_modifiers(const Code& code, const Row& row, Instruction& made) {
  made.clamp = bit(code.first, 15) && row.destination.form != Spec::Form::acc && row.sources[0].form != Spec::Form::acc;
  const bool has_halves = row.flags & (kPacked | kMix);
  for (int s = 0; s < row.source_count; ++s) {
    InstructionOperand& source = made.sources[s];
    source.op_sel = has_halves && bit(code.first, 11 + s);
    source.op_sel_hi = has_halves && (s < 2 ? bit(*code.second, 27 + s) : bit(code.first, 14));
    source.neg = bit(*code.second, 29 + s);
    (row.flags & kMix ? source.abs : source.neg_hi) = bit(code.first, 8 + s);
  }
}

// Returns the registers of an operand of 32 values of f8, f6 or f4, by its format.
uint8_t registers_of_format(uint32_t format) { return format <= 1 ? 8 : format <= 3 ? 6 : 4; }

bool put_matrix_sources(const Code& code, const Row& row, Instruction& made, bool accumulator) {
  const bool formats = row.opcode == Opcode::v_mfma_f32_16x16x128_f8f6f4 ||
                       row.opcode == Opcode::v_mfma_f32_32x32x64_f8f6f4 || row.number >= kScaled;
  if (formats && (made.matrix.cbsz > 4 || made.matrix.blgp > 4)) return false;
  for (int s = 0; s < 3; ++s) {
    Spec spec = row.sources[s];
    if (formats && s < 2) spec.registers = registers_of_format(s == 0 ? made.matrix.cbsz : made.matrix.blgp);
    const uint32_t number = bits(*code.second, 9 * s, 9);
    if (s < 2 && number < kFirstVgpr) return false;
    if (!put_source(made, source_operand(number, spec, std::nullopt))) return false;
    InstructionOperand& source = made.sources[s];
    const bool index = made.destination.registers != source.registers && s == 2;  // a sparse product's, in a VGPR
    const bool own = s < 2 ? bit(*code.second, 27 + s) : accumulator && !index;
    if (source.kind == OperandKind::vgpr && own) source.kind = OperandKind::agpr;
  }
  return true;
}

Decoded decode_matrix(const Code& code, const Row& row, Instruction made) {
  const bool accumulator = bit(code.first, 15);
  if (!put_vector_destination(made, bits(code.first, 0, 8), row.destination, accumulator)) return std::nullopt;
  made.matrix = {static_cast<uint8_t>(bits(code.first, 8, 3)), static_cast<uint8_t>(bits(code.first, 11, 4)),
                 static_cast<uint8_t>(bits(*code.second, 29, 3))};
  if (!put_matrix_sources(code, row, made, accumulator)) return std::nullopt;
  return made;
}

// A product with scales has two words in front of its own: they name the scales, and which of their bytes to take.
Decoded decode_scaled(const Code& code) {
  Code product{code.bytes.subspan(8), code.isa};
  const std::optional<uint32_t> first = product.word(0), second = product.word(1);
  if (!first || !second || *first >> 23 != 0x1a7) return std::nullopt;
  product.first = *first;
  product.second = second;
  const Row* row = code.row(Encoding::vop3p, kScaled + bits(product.first, 16, 7));
  if (!row) return std::nullopt;
  Decoded made = decode_matrix(product, *row, begin(*row, Encoding::vop3p, 16));
  if (!made || made->matrix.abid != 1) return std::nullopt;  // abid 1 says that there are scales
  made->matrix.abid = 0;
  for (int s = 0; s < 2; ++s) {
    if (!put_source(*made, source_operand(bits(*code.second, 9 * s, 9), row->sources[3 + s], std::nullopt)))
      return std::nullopt;
    made->sources[3 + s].op_sel = bit(code.first, 11 + s);
    made->sources[3 + s].op_sel_hi = bit(*code.second, 27 + s);
  }
  return made;
}

Decoded decode_vop3p(const Code& code) {
  const Row* row = code.row(Encoding::vop3p, bits(code.first, 16, 7));
  if (!row) return std::nullopt;
  if (row->opcode == Opcode::v_mfma_ld_scale_b32)
    if (Decoded scaled = decode_scaled(code)) return scaled;
  Instruction made = begin(*row, Encoding::vop3p, 8);
  if (row->flags & kMatrix) return decode_matrix(code, *row, made);
  if (!put_vector_destination(made, bits(code.first, 0, 8), row->destination)) return std::nullopt;
  if (!put_vop3_sources(code, *row, made)) return std::nullopt;
  apply_packed_modifiers(code, *row, made);
  return made;
}

}  // namespace

Decoded decode_short_vector(const Code& code) {
  const uint32_t number = bits(code.first, 25, 6);
  const Encoding encoding = number == 0x3f ? Encoding::vop1 : number == 0x3e ? Encoding::vopc : Encoding::vop2;
  const uint32_t inner = encoding == Encoding::vop1   ? bits(code.first, 9, 8)
                         : encoding == Encoding::vopc ? bits(code.first, 17, 8)
                                                      : number;
  const Row* row = code.row(encoding, inner);
  if (!row) return std::nullopt;
  Instruction made = begin(*row, encoding, 4);
  if (encoding == Encoding::vopc)
    made.destination = vcc_pair();
  else if (!put_vector_destination(made, bits(code.first, 17, 8), row->destination))
    return std::nullopt;
  if (row->destination.carry) made.carry_out = vcc_pair();
  Decoded decoded = short_vector_sources(code, *row, made);
  const int last = row->source_count - 1;
  if (decoded && last >= 0 && row->sources[last].form == Spec::Form::mask)
    decoded->sources[decoded->source_count++] = vcc_pair();
  return decoded;
}

Decoded decode_long_vector(const Code& code) {
  return code.first >> 23 == 0x1a7 ? decode_vop3p(code) : decode_vop3(code);
}

}  // namespace rung::amdgpu

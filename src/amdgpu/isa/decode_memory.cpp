// Decodes accesses to memory: SMEM, DS, FLAT with GLOBAL and SCRATCH, MUBUF.
// SPDX-License-Identifier: Apache-2.0
// Source: the chapter on microcode formats in AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3
// and 4.
#include "amdgpu/isa/decode_parts.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint32_t kOff = 0x7f;  // a scalar base of this number means none
constexpr Spec kDword{Spec::Form::any, Type::b32, 1}, kAddress{Spec::Form::any, Type::b64, 2};
constexpr Spec kResource{Spec::Form::any, Type::b128, 4};

// Puts a vector register, or nothing if the row has none; `accumulator` is the bit that stands for all data.
bool put_data(InstructionOperand& place, uint32_t number, const Spec& spec, bool accumulator) {
  if (spec.form == Spec::Form::none) return true;
  if (!fits(number, spec.registers)) return false;
  place = vector_register(number, spec, accumulator);
  return true;
}

bool put_data_source(Instruction& made, uint32_t number, const Spec& spec, bool accumulator = false) {
  return spec.form == Spec::Form::none || put_data(made.sources[made.source_count++], number, spec, accumulator);
}

void put_off(Instruction& made) { ++made.source_count; }

// The bits that gfx90a calls glc, slc and scc are named sc0, nt and sc1 later.
struct CacheBits {
  int sc0, nt, sc1;
};
void put_cache_bits(const Code& code, Instruction& made, const CacheBits& at) {
  made.memory.sc0 = bit(code.first, at.sc0);
  made.memory.nt = bit(code.first, at.nt);
  made.memory.sc1 = bit(code.first, at.sc1);
}

// The address of a global or scratch access has a base in scalar registers, and an offset or the address itself in
// vector registers.
bool put_segment_address(const Code& code, const Row& row, Instruction& made) {
  const uint32_t number = bits(*code.second, 0, 8), base = bits(*code.second, 16, 7);
  if (row.encoding == Encoding::global) return put_data_source(made, number, base == kOff ? kAddress : kDword);
  // A scratch access on gfx90a has one of the two; since gfx942 bit 13 says whether the vector register counts.
  const bool has_vector = code.isa == Isa::gfx90a ? base == kOff : bit(code.first, 13);
  if (has_vector) return put_data_source(made, number, kDword);
  put_off(made);
  return true;
}

bool put_base(const Code& code, const Row& row, Instruction& made) {
  const uint32_t base = bits(*code.second, 16, 7);
  if (base == kOff) {
    put_off(made);
    return true;
  }
  return put_source(made, scalar_register(base, row.encoding == Encoding::global ? kAddress : kDword));
}

}  // namespace

Decoded decode_scalar_memory(const Code& code) {
  const Row* row = code.row(Encoding::smem, bits(code.first, 18, 8));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::smem, 8);
  made.memory.sc0 = bit(code.first, 16);
  const uint32_t data = bits(code.first, 6, 7);
  const bool returns = !(row->flags & kAtomic) || made.memory.sc0;
  const Spec& destination = row->destination;
  if (returns && destination.form != Spec::Form::none) {
    Spec wanted = destination;  // an atomic gives back as many registers as it takes
    if (row->flags & kAtomic) wanted = row->sources[1];
    if (!put(made.destination, scalar_register(data, wanted))) return std::nullopt;
  }
  if (row->source_count == 0) return made;
  if (!put_source(made, scalar_register(bits(code.first, 0, 6) * 2, row->sources[0]))) return std::nullopt;
  const bool has_immediate = bit(code.first, 17), has_both = bit(code.first, 14);
  const bool has_register = has_both || !has_immediate;
  made.memory.scalar_offset = has_register;
  if (has_immediate) made.memory.offset = sign_extend(bits(*code.second, 0, 21), 21);
  const uint32_t offset_register = has_both ? bits(*code.second, 25, 7) : bits(*code.second, 0, 7);
  if (!has_register)
    put_off(made);
  else if (!put_source(made, scalar_register(offset_register, kDword)))
    return std::nullopt;
  if (row->flags & kProbe)
    made.immediate = static_cast<int32_t>(data);
  else if (row->source_count > 1 && !put_source(made, scalar_register(data, row->sources[1])))
    return std::nullopt;
  return made;
}

Decoded decode_lds(const Code& code) {
  const Row* row = code.row(Encoding::ds, bits(code.first, 17, 8));
  if (!row || bit(code.first, 16) != ((row->flags & kGws) != 0)) return std::nullopt;
  Instruction made = begin(*row, Encoding::ds, 8);
  made.memory.offset = static_cast<int32_t>(bits(code.first, 0, 16));
  const bool accumulator = bit(code.first, 25);
  if (!put_data(made.destination, bits(*code.second, 24, 8), row->destination, accumulator)) return std::nullopt;
  if (row->flags & kGws) {
    if (row->source_count > 1 && !put_data_source(made, bits(*code.second, 0, 8), kDword, accumulator))
      return std::nullopt;
    return made;
  }
  for (int s = 0; s < row->source_count; ++s) {
    const uint32_t number = bits(*code.second, 8 * s, 8);
    if (row->sources[s].form == Spec::Form::none)
      put_off(made);
    else if (!put_data_source(made, number, row->sources[s], s > 0 && accumulator))
      return std::nullopt;
  }
  return made;
}

Decoded decode_flat(const Code& code) {
  const uint32_t segment = bits(code.first, 14, 2);
  if (segment == 3) return std::nullopt;
  const Encoding encoding = segment == 0 ? Encoding::flat : segment == 1 ? Encoding::scratch : Encoding::global;
  const Row* row = code.row(encoding, bits(code.first, 18, 7));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, encoding, 8);
  put_cache_bits(code, made, {16, 17, 25});
  // Since gfx942, loads to the local data share are separate instructions.
  const bool moves_to_lds = code.isa == Isa::gfx90a && encoding != Encoding::flat && bit(code.first, 13);
  if (moves_to_lds && (row->destination.registers != 1 || (row->flags & kAtomic))) return std::nullopt;
  made.memory.lds = (row->flags & kLds) || moves_to_lds;
  made.memory.offset = encoding == Encoding::flat ? static_cast<int32_t>(bits(code.first, 0, 12))
                                                  : sign_extend(bits(code.first, 0, 13), 13);
  const bool accumulator = bit(*code.second, 23);
  const bool returns = !(row->flags & kAtomic) || made.memory.sc0;
  if (returns && !moves_to_lds && !put_data(made.destination, bits(*code.second, 24, 8), row->destination, accumulator))
    return std::nullopt;
  const bool placed = encoding == Encoding::flat ? put_data_source(made, bits(*code.second, 0, 8), kAddress)
                                                 : put_segment_address(code, *row, made);
  if (!placed || !put_data_source(made, bits(*code.second, 8, 8), row->sources[0], accumulator)) return std::nullopt;
  if (encoding != Encoding::flat && !put_base(code, *row, made)) return std::nullopt;
  return made;
}

Decoded decode_buffer(const Code& code) {
  const Row* row = code.row(Encoding::mubuf, bits(code.first, 18, 7));
  if (!row) return std::nullopt;
  Instruction made = begin(*row, Encoding::mubuf, 8);
  put_cache_bits(code, made, {14, 17, 15});
  if (row->flags & kNoAddress) return made;
  made.memory.offen = bit(code.first, 12);
  made.memory.idxen = bit(code.first, 13);
  made.memory.lds = bit(code.first, 16);
  made.memory.offset = static_cast<int32_t>(bits(code.first, 0, 12));
  const bool accumulator = bit(*code.second, 23), returns = !(row->flags & kAtomic) || made.memory.sc0;
  const uint32_t data = bits(*code.second, 8, 8);
  if (returns && !made.memory.lds && !put_data(made.destination, data, row->destination, accumulator))
    return std::nullopt;
  if (!made.memory.offen && !made.memory.idxen)
    put_off(made);
  else if (!put_data_source(made, bits(*code.second, 0, 8), made.memory.offen && made.memory.idxen ? kAddress : kDword))
    return std::nullopt;
  if (!put_data_source(made, data, row->sources[0], accumulator)) return std::nullopt;
  if (!put_source(made, scalar_register(bits(*code.second, 16, 5) * 4, kResource))) return std::nullopt;
  if (!put_source(made, source_operand(bits(*code.second, 24, 8), kDword, std::nullopt))) return std::nullopt;
  return made;
}

}  // namespace rung::amdgpu

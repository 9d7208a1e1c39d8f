// Finds the rows of opcodes_*.inc by encoding and number.
// SPDX-License-Identifier: Apache-2.0
// Sources: AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3 and 4. The numbers and operands' widths
// were compared with LLVM's assembler.
#include "amdgpu/isa/opcode_rows.hpp"

#include <memory>
#include <vector>

namespace rung::amdgpu {
namespace {

constexpr uint8_t all = 7, since_942 = 6, only_90a = 1, only_942 = 2, only_950 = 4;

constexpr Spec spec(Type type, int registers) { return {Spec::Form::any, type, static_cast<uint8_t>(registers)}; }
constexpr Spec none{};
constexpr Spec mask{Spec::Form::mask, Type::b64, 2}, scalar{Spec::Form::scalar, Type::b32, 1};
constexpr Spec acc{Spec::Form::acc, Type::b32, 1}, simm{Spec::Form::simm, Type::b32, 1};
constexpr Spec b16 = spec(Type::b16, 1), b32 = spec(Type::b32, 1), b64 = spec(Type::b64, 2), b96 = spec(Type::b96, 3);
constexpr Spec b128 = spec(Type::b128, 4), b256 = spec(Type::b256, 8), b512 = spec(Type::b512, 16);
constexpr Spec i16 = spec(Type::i16, 1), u16 = spec(Type::u16, 1), i32 = spec(Type::i32, 1), u32 = spec(Type::u32, 1);
constexpr Spec i64 = spec(Type::i64, 2), u64 = spec(Type::u64, 2), f16 = spec(Type::f16, 1), bf16 = spec(Type::bf16, 1);
constexpr Spec f32 = spec(Type::f32, 1), f64 = spec(Type::f64, 2), pk_f16 = spec(Type::pk_f16, 1);
constexpr Spec pk_bf16 = spec(Type::pk_bf16, 1), pk_i16 = spec(Type::pk_i16, 1), pk_u16 = spec(Type::pk_u16, 1);
constexpr Spec pk_f32 = spec(Type::pk_f32, 2);

constexpr Spec co(Spec destination) {
  destination.carry = true;
  return destination;
}

struct Identity {
  Opcode opcode;
  Encoding encoding;
  uint16_t number;
  uint8_t isas;
  uint16_t flags;
};

constexpr Row make_row(const Identity& identity, Spec destination, std::initializer_list<Spec> sources = {}) {
  Row row{identity.opcode, identity.encoding, identity.number, identity.isas, identity.flags, destination};
  for (const Spec& source : sources) row.sources[row.source_count++] = source;
  return row;
}

constexpr Row kRows[] = {
#define RUNG_AMD_ROW(encoding, number, isas, name, flags, destination, ...) \
  make_row({Opcode::name, Encoding::encoding, number, isas, flags}, destination, {__VA_ARGS__}),
#include "amdgpu/isa/opcodes_ds.inc"
#include "amdgpu/isa/opcodes_memory.inc"
#include "amdgpu/isa/opcodes_scalar.inc"
#include "amdgpu/isa/opcodes_vop1.inc"
#include "amdgpu/isa/opcodes_vop2.inc"
#include "amdgpu/isa/opcodes_vop3.inc"
#include "amdgpu/isa/opcodes_vop3p.inc"
#include "amdgpu/isa/opcodes_vopc.inc"
#undef RUNG_AMD_ROW
};

constexpr size_t kEncodings = static_cast<size_t>(Encoding::mubuf) + 1, kNumbers = 1024;
constexpr size_t kIsaCount = std::size(kIsas);
constexpr size_t kOpcodes = 0
#define RUNG_AMD_OPCODE(name) +1
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
    ;

// Indices into kRows, from 1; 0: there is no row.
struct Index {
  std::vector<uint16_t> by_number = std::vector<uint16_t>(kEncodings * kIsaCount * kNumbers);
  std::vector<uint16_t> by_opcode = std::vector<uint16_t>(kOpcodes);
  uint16_t& at(Encoding encoding, size_t isa, size_t number) {
    return by_number[(static_cast<size_t>(encoding) * kIsaCount + isa) * kNumbers + number];
  }
};

uint16_t offset_in_vop3(Encoding encoding) {
  return encoding == Encoding::vop1 ? kVop1InVop3 : encoding == Encoding::vop2 ? kVop2InVop3 : kVopcInVop3;
}

Index make_index() {
  Index index;
  for (size_t r = 0; r < std::size(kRows); ++r) {
    const Row& row = kRows[r];
    const uint16_t place = static_cast<uint16_t>(r + 1);
    const bool short_form =
        row.encoding == Encoding::vop1 || row.encoding == Encoding::vop2 || row.encoding == Encoding::vopc;
    for (size_t isa = 0; isa < kIsaCount; ++isa) {
      if (!(row.isas >> isa & 1)) continue;
      index.at(row.encoding, isa, row.number) = place;
      if (short_form && !(row.flags & kNoE64))
        index.at(Encoding::vop3, isa, row.number + offset_in_vop3(row.encoding)) = place;
    }
    uint16_t& first = index.by_opcode[static_cast<size_t>(row.opcode)];
    if (first == 0) first = place;
  }
  return index;
}

Index& index() {
  static Index made = make_index();
  return made;
}

}  // namespace

const Row* find_row(Encoding encoding, uint32_t number, Isa isa) {
  if (number >= kNumbers) return nullptr;
  const uint16_t place = index().at(encoding, static_cast<size_t>(isa), number);
  return place ? &kRows[place - 1] : nullptr;
}

bool is_inner_literal(Opcode opcode, size_t source) {
  switch (opcode) {
    case Opcode::v_madmk_f32:
    case Opcode::v_madmk_f16:
    case Opcode::v_fmamk_f32:
      return source == 1;
    case Opcode::v_madak_f32:
    case Opcode::v_madak_f16:
    case Opcode::v_fmaak_f32:
      return source == 2;
    default:
      return false;
  }
}

const Row& row_of(Opcode opcode) { return kRows[index().by_opcode[static_cast<size_t>(opcode)] - 1]; }

}  // namespace rung::amdgpu

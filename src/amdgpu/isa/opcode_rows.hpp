// The table of instructions: for each encoding and number the opcode, the ISAs that have it and its operands.
// SPDX-License-Identifier: Apache-2.0
// opcodes_*.inc have one row for each instruction and encoding:
//   RUNG_AMD_ROW(encoding, number, isas, name, flags, destination, sources...)
// A row of VOP1, VOP2 or VOPC also holds for its 64-bit form, whose number is offset by kVop1InVop3, ....
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

// The specification of one operand of an instruction.
struct Spec {
  enum class Form : uint8_t { none, any, mask, scalar, acc, simm };
  Form form = Form::none;
  Type type = Type::b32;
  uint8_t registers = 0;
  bool carry = false;  // a destination with a carry out behind it
  constexpr Spec operator*(int times) const {
    Spec more = *this;
    more.registers = static_cast<uint8_t>(registers * times);
    return more;
  }
};

enum RowFlags : uint16_t {
  kOpSel = 1,         // VOP3: halves are chosen, written as one bit per operand
  kOpSel4 = 2,        // the same, written as four bits
  kNoE64 = 4,         // VOP1 and VOP2 without a 64-bit form, and so without a suffix
  kBitop = 8,         // v_bitop3: its truth table stands for modifiers
  kPacked = 16,       // VOP3P: halves are chosen twice; op_sel_hi is 1 by default
  kMix = 32,          // VOP3P: op_sel_hi says which sources are f16, and is 0 by default; abs in the place of neg_hi
  kNoPacked = 64,     // VOP3P whose halves cannot be chosen
  kMatrix = 128,      // VOP3P-MAI: accumulation registers, broadcasts
  kTwoOffsets = 256,  // DS
  kGws = 512,         // DS: global wave sync
  kAtomic = 1024,     // returns the old value if sc0 says so
  kLds = 2048,        // loads to the local data share
  kNoAddress = 4096,  // MUBUF that controls caches
  kProbe = 8192,      // SMEM: the data register's field is a number
};

struct Row {
  Opcode opcode{};
  Encoding encoding{};
  uint16_t number = 0;
  uint8_t isas = 0;  // bit t: Isa t has it
  uint16_t flags = 0;
  Spec destination;
  std::array<Spec, 5> sources{};
  uint8_t source_count = 0;
};

inline constexpr uint16_t kVopcInVop3 = 0, kVop2InVop3 = 0x100, kVop1InVop3 = 0x140, kScaled = 0x100;

// Returns the row of `number` in `encoding`; null: `isa` has none. Numbers of Encoding::vop3 include 64-bit forms.
const Row* find_row(Encoding encoding, uint32_t number, Isa isa);
// Returns whether source `source` is the constant that v_madmk, v_madak, v_fmamk and v_fmaak always have behind them.
bool is_inner_literal(Opcode opcode, size_t source);
// Returns the first row of an opcode, that of its shortest encoding.
const Row& row_of(Opcode opcode);

}  // namespace rung::amdgpu

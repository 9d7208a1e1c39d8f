// One decoded machine instruction of CDNA: its opcode, the operands it reads and writes, and its modifiers.
// SPDX-License-Identifier: Apache-2.0
// Sources: AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3 and 4. An instruction of several
// encodings (e32, e64, SDWA, DPP) is one Opcode; whatever an encoding adds is a modifier here.
#pragma once
#include <array>
#include <cstdint>

namespace rung::amdgpu {

// The opcode is named by its mnemonic, without the encoding's suffix: Opcode::v_add_f32.
enum class Opcode : uint16_t {
#define RUNG_AMD_OPCODE(name) name,
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
};

enum class Encoding : uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  ds,
  flat,
  global,
  scratch,
  mubuf
};

// The elements of an operand and their width. They decide what inline constants, negation and halves mean.
enum class Type : uint8_t {
  b16,
  b32,
  b64,
  b96,
  b128,
  b256,
  b512,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
  pk_f16,
  pk_bf16,
  pk_i16,
  pk_u16,
  pk_f32
};

enum class OperandKind : uint8_t {
  none,
  vgpr,      // number 0..255, the first of `registers`
  agpr,      // number 0..255, likewise
  scalar,    // number as encoded in 8 bits: s0..s101 are 0..101, then kVcc.. below
  constant,  // inline or literal: `bits` holds the value in the form of the operand's type
};

// Scalar operands that are no general registers, by encoded number; the second half of a 64-bit operand follows it.
enum ScalarNumber : uint16_t {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kM0 = 124,
  kExec = 126,
  kSharedBase = 235,
  kSharedLimit = 236,
  kPrivateBase = 237,
  kPrivateLimit = 238,
  kVccZ = 251,
  kExecZ = 252,
  kScc = 253,
};

struct InstructionOperand {
  OperandKind kind = OperandKind::none;
  Type type = Type::b32;
  uint8_t registers = 1;  // of 32 bits
  bool neg = false, abs = false;
  bool op_sel = false;     // VOP3 on 16-bit types: takes the high half; packed: the half for the low result
  bool op_sel_hi = false;  // packed: the half for the high result
  bool neg_hi = false;     // packed: negates the source of the high result
  bool literal = false;    // a constant that stands in the code behind the instruction
  uint16_t number = 0;
  uint64_t bits = 0;
};
inline bool is_vector(const InstructionOperand& operand) {
  return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
}

enum class Select : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };  // as encoded in SDWA
enum class Unused : uint8_t { pad, sext, preserve };                              // as encoded in SDWA

struct Dpp {
  uint16_t control = 0;  // as encoded, 9 bits
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_ctrl = false;  // the encoded bit: 1 reads 0 from lanes that are not there
};
struct Sdwa {
  Select destination = Select::dword, source[2] = {Select::dword, Select::dword};
  Unused unused = Unused::pad;
  bool sext[2] = {};
};
struct MemoryModifiers {
  int32_t offset = 0;  // added to an address, in bytes; DS with two: offset0 in bits 7:0, offset1 in 15:8
  bool sc0 = false, sc1 = false, nt = false;  // gfx90a: glc, scc, slc
  bool offen = false, idxen = false;          // MUBUF
  bool lds = false;                           // goes to LDS, at M0
  bool scalar_offset = false;                 // SMEM: the offset is a scalar register, in sources[1]
};
struct MatrixModifiers {
  uint8_t cbsz = 0, abid = 0, blgp = 0;
};

struct Instruction {
  Opcode opcode{};
  Encoding encoding{};
  uint8_t bytes = 4;  // 4, 8, 12 or 16, a literal included
  uint8_t omod = 0;   // 1: *2, 2: *4, 3: /2
  bool clamp = false;
  bool is_dpp = false, is_sdwa = false;
  bool op_sel_destination = false;  // VOP3 on 16-bit types: writes the high half
  uint8_t source_count = 0;
  int32_t immediate = 0;  // SOPK and SOPP: simm16, sign-extended; v_bitop3: its truth table, 8 bits
  // Operands in the assembler's order. VOPC and VOP2 with carry have their mask (vcc or an SGPR pair) here in e32, too:
  // a comparison's in `destination`, a carry out in `carry_out`, a carry in or v_cndmask's mask as the last source.
  // Memory: an address, data (of stores and atomics), then a scalar base or resource; an "off" operand is `none`, and
  // keeps its place. MUBUF has its scalar offset last. SMEM: a base, an offset register or `none`, data of stores. A
  // matrix product with scales: a, b, c, the scales of a and of b, their bytes chosen by op_sel and op_sel_hi.
  InstructionOperand destination, carry_out;
  std::array<InstructionOperand, 5> sources{};
  Dpp dpp;
  Sdwa sdwa;
  MemoryModifiers memory;
  MatrixModifiers matrix;
};

}  // namespace rung::amdgpu

// Computations of vector instructions: for each a row with its function over 64 lanes and the roles of its operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

// The form of a source or a result in its registers; it decides what neg, abs, omod, clamp and halves do.
enum class Kind : uint8_t {
  none,
  b16,
  f16,
  b32,
  f32,
  b64,
  f64,
  packed_b16,
  packed_f16,
  packed_f32,
  mask,  // a bit per lane; functions see all or none of a lane's 32 bits
  mix,   // v_fma_mix*: f32, or either half as f16
};

// The fetched operands of one instruction: of each, 64 lanes of the first register, then 64 of the next, ...
struct Frame {
  std::array<const uint32_t*, 4> source{};
  uint32_t* result = nullptr;
  uint32_t* mask = nullptr;  // a carry out: all or none of a lane's 32 bits
  uint32_t mode = 0;         // Wave::mode
  uint32_t op_sel = 0;       // a bit for each of sources 0 to 2, and for the destination
  int32_t immediate = 0;     // Instruction::immediate
  Isa isa{};
};
using LaneFunction = void (*)(const Frame&);

struct LaneRow {
  Opcode opcode{};
  LaneFunction run = nullptr;        // null: the vector ALU has no such instruction, or it is not executed here
  LaneFunction saturated = nullptr;  // the same with clamp, for instructions whose result is an integer
  Kind result = Kind::none;
  std::array<Kind, 4> sources{};
  uint8_t source_count = 0;
  uint8_t source_registers[4] = {};  // of 32 bits
  uint8_t result_registers = 0;      // 0: a mask alone
  bool carry_out = false;
  bool accumulates = false;  // the destination is read as the last source
  bool reads_vcc = false;    // the last source is VCC, which the assembler does not write
  bool own_halves = false;   // the function itself knows which parts op_sel chooses
  bool copies = false;       // may move unwritten registers, which stay unwritten
  bool low_of_low = false;   // 64 bits: the low half of the result depends on the sources' low halves alone
  bool keeps_half = false;   // 16 bits: the other half of the destination stays; else it becomes 0
  bool writes_exec = false;  // a comparison's mask goes to EXEC, too
  bool writes_high = false;  // 16 bits: writes the high half (v_fma_mixhi_f16)
  bool to_nearest = false;   // whatever rounding MODE states
};

// Instruction sets that the functions are compiled for.
enum class LaneCode : uint8_t { baseline, avx2 };
bool is_supported(LaneCode code);  // whether this processor has it
// The rows of all opcodes, each at its number.
std::span<const LaneRow> lane_rows_of(LaneCode code);
// The rows of the best code that this processor has.
extern const LaneRow* const kLaneRows;
inline const LaneRow& lane_row_of(Opcode opcode) { return kLaneRows[static_cast<size_t>(opcode)]; }

// Convert lanes to bits and back.
uint64_t bits_of(const uint32_t* mask);
void lanes_of(uint64_t bits, uint32_t* mask);

}  // namespace rung::amdgpu

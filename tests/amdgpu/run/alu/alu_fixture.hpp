// One instruction on one wave: operands made by hand, run, and the 64 lanes of the result looked at.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/alu/alu.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
inline float as_float(uint32_t x) { return std::bit_cast<float>(x); }
inline double as_double(uint64_t x) { return std::bit_cast<double>(x); }

inline double half_value(uint32_t h) {  // from the words of IEEE 754
  const int exponent = static_cast<int>(h >> 10 & 31);
  const double mantissa = h & 0x3ff, sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

// The f16 nearest to an exact value, ties to even, by search among neighbours.
inline uint32_t nearest_half(long double exact) {
  if (std::isnan(exact)) return 0x7e00;
  const uint32_t sign = std::signbit(exact) ? 0x8000 : 0;
  const long double a = std::fabs(exact);
  uint32_t low = 0, high = 0x7c00;  // f16 magnitudes are ordered as their bits
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (half_value(middle) <= static_cast<double>(a) && half_value(middle) <= a ? low : high) = middle;
  }
  const long double below = half_value(low), above = high == 0x7c00 ? 65536.0L : half_value(high);
  const bool up = a - below > above - a || (a - below == above - a && low % 2 == 1);
  return sign | (up ? high : low);
}

inline InstructionOperand v(uint16_t number, uint8_t registers = 1) {
  return {.kind = OperandKind::vgpr, .registers = registers, .number = number};
}
inline InstructionOperand s(uint16_t number, uint8_t registers = 1) {
  return {.kind = OperandKind::scalar, .registers = registers, .number = number};
}
inline InstructionOperand constant(uint64_t value) { return {.kind = OperandKind::constant, .bits = value}; }
// As every packed operand of VOP3P is where nothing is written.
inline InstructionOperand packed(InstructionOperand operand) {
  operand.op_sel_hi = true;
  return operand;
}

inline Instruction instruction(Opcode opcode, InstructionOperand destination,
                               std::initializer_list<InstructionOperand> sources) {
  Instruction made;
  made.opcode = opcode;
  made.encoding = row_of(opcode).encoding;
  made.destination = destination;
  for (const InstructionOperand& source : sources) made.sources[made.source_count++] = source;
  if (row_of(opcode).destination.carry) made.carry_out = s(20, 2);
  return made;
}

// A wave all of whose registers are written and whose lanes are all active.
struct OneWave {
  Wave w;
  OneWave() {
    w.written.fill(~uint64_t{0});
    w.scalar_written.fill(true);
    w.set_exec(~uint64_t{0});
  }
  void set(int number, int lane, uint32_t value) { w.v[number].at[lane] = value; }
  void set64(int number, int lane, uint64_t value) {
    set(number, lane, static_cast<uint32_t>(value)), set(number + 1, lane, static_cast<uint32_t>(value >> 32));
  }
  uint32_t get(int number, int lane) const { return w.v[number].at[lane]; }
  uint64_t get64(int number, int lane) const { return get(number, lane) | uint64_t{get(number + 1, lane)} << 32; }
  uint64_t pair(int number) const { return w.s[number] | uint64_t{w.s[number + 1]} << 32; }
  void set_pair(int number, uint64_t value) {
    w.s[number] = static_cast<uint32_t>(value), w.s[number + 1] = static_cast<uint32_t>(value >> 32);
  }
  void run(const Instruction& i) {
    const Handler handler = alu_handler(i, w.isa);
    ASSERT_NE(handler, nullptr) << name_of(i.opcode);
    handler(w, i);
  }
};

// Sources of up to 64 bits and what comes of them; a lane each.
struct Case {
  std::vector<uint64_t> sources;
  uint64_t expected;
};

// Runs `opcode` with its cases in lanes, the sources in v10, v12, v14, ... and the destination in v2.
inline void expect_lanes(Opcode opcode, const std::vector<Case>& cases, const Instruction& modifiers = {},
                         uint32_t mode = Mode::kUsual) {
  const Row& row = row_of(opcode);
  OneWave wave;
  wave.w.mode = mode;
  Instruction i = modifiers;
  const Instruction plain = instruction(opcode, v(2, row.destination.registers), {});
  i.opcode = opcode, i.encoding = plain.encoding, i.destination = plain.destination, i.carry_out = plain.carry_out;
  i.source_count = row.source_count;
  ASSERT_LE(cases.size(), 64u);
  for (int k = 0; k < row.source_count; ++k) {
    InstructionOperand operand = v(static_cast<uint16_t>(10 + 2 * k), row.sources[k].registers);
    operand.neg = modifiers.sources[k].neg, operand.abs = modifiers.sources[k].abs;
    operand.op_sel = modifiers.sources[k].op_sel, operand.neg_hi = modifiers.sources[k].neg_hi;
    operand.op_sel_hi = i.encoding == Encoding::vop3p;
    i.sources[k] = operand;
    for (size_t l = 0; l < cases.size(); ++l)
      if (static_cast<size_t>(k) < cases[l].sources.size())
        wave.set64(10 + 2 * k, static_cast<int>(l), cases[l].sources[k]);
  }
  // An accumulating instruction reads its destination as one source more.
  for (size_t l = 0; l < cases.size(); ++l)
    wave.set64(2, static_cast<int>(l), cases[l].sources.size() > row.source_count ? cases[l].sources.back() : 0);
  wave.run(i);
  ASSERT_EQ(wave.w.pause, Pause::none) << name_of(opcode) << ": " << wave.w.defect.detail;
  for (size_t l = 0; l < cases.size(); ++l) {
    const int lane = static_cast<int>(l);
    const uint64_t got = row.destination.registers == 2 ? wave.get64(2, lane) : wave.get(2, lane);
    EXPECT_EQ(got, cases[l].expected) << std::hex << name_of(opcode) << ", case " << l << ": got 0x" << got
                                      << ", wanted 0x" << cases[l].expected;
  }
}

}  // namespace rung::amdgpu

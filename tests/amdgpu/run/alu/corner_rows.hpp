// Corner tables: a row for each instruction, with the section of AMD's guide whose words its expression says again, and
// the run of a row over all corners of its sources' types.
// SPDX-License-Identifier: Apache-2.0
// Sections are those of the guide for CDNA 3; "4: " those of the one for CDNA 4, "2: " for CDNA 2.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/wave.hpp"
#include "exact_numbers.hpp"

namespace rung::amdgpu::corner {

// What one part of a result must be.
struct Part {
  uint64_t bits = 0;
  Wide whole = 0;  // before it is cut to the destination's width
  bool is_whole = false;
  bool is_nan = false;  // any quiet one
  bool is_any = false;  // the guide does not say
  int ulps = 0;         // that it may be away
  Quad tolerance = 0;   // likewise, as a number
};

struct Out {
  std::array<Part, 4> parts;
  int count = 1;
  int carry = -1;  // 0 or 1; -1: not told
  Out(Wide whole) : Out(Part{.bits = static_cast<uint64_t>(whole), .whole = whole, .is_whole = true}) {}  // NOLINT
  Out(const Part& part) { parts[0] = part; }                                                              // NOLINT
  Out(const Part& low, const Part& high) : count(2) { parts[0] = low, parts[1] = high; }
  Out with_carry(bool is) const {
    Out made = *this;
    made.carry = is;
    return made;
  }
};
inline Part bits_part(uint64_t bits) { return {.bits = bits}; }
inline Part whole_part_of(Wide whole) { return Out(whole).parts[0]; }
inline Part any_part() { return {.is_any = true}; }
inline Part nan_part() { return {.is_nan = true}; }

// One lane's inputs.
struct In {
  const Row* row = nullptr;
  std::array<uint64_t, 4> sources{};  // an accumulator behind the others
  uint32_t mode = Mode::kUsual;
  bool vcc = false;
  bool singles = false;  // sources of v_fma_mix
  int lane = 0;

  Type type(int k) const { return k < row->source_count ? row->sources[k].type : row->destination.type; }
  Wide u(int k) const;
  Wide i(int k) const;
  // A number, without denormals where MODE says so.
  Number n(int k) const;
  // A half of a packed source.
  Wide u(int k, bool high) const { return sources[k] >> (high ? 16 : 0) & 0xffff; }
  Wide i(int k, bool high) const { return static_cast<int16_t>(u(k, high)); }
  Number n(int k, bool high) const;
  Number by_mode(const Number& x) const;
  bool ieee() const { return mode & Mode::kIeee; }
  unsigned rounding(const Format& format) const;
  bool keeps_results(const Format& format) const;

  // Results, rounded and flushed by MODE.
  Part number(const Exact& x, bool negative_zero, const Format& to) const;
  Part sum(const Number& a, const Number& b) const;
  Part product(const Number& a, const Number& b) const;
  Part fused(const Number& a, const Number& b, const Number& c) const;
  Part least(const Number& a, const Number& b) const { return bits_part(extreme(a, b, false).bits); }
  Part most(const Number& a, const Number& b) const { return bits_part(extreme(a, b, true).bits); }
  Number extreme(const Number& a, const Number& b, bool larger) const;
};
Format format_of(Type type);

enum Flags : uint8_t {
  kMixed = 1,         // sources of v_fma_mix, as f32
  kUsualMode = 2,     // what MODE asks for is not said
  kUpperKept = 4,     // a result of 16 bits leaves the destination's other half
  kUpperZero = 8,     // clears it
  kHalvesInHigh = 16  // a result of 16 bits goes to the destination's upper half
};
struct CornerRow {
  Opcode opcode{};
  const char* section = "";
  Out (*expected)(const In&) = nullptr;
  uint8_t flags = 0;
};

std::span<const CornerRow> whole_number_corners();
std::span<const CornerRow> bit_corners();
std::span<const CornerRow> short_corners();
std::span<const CornerRow> float_corners();
std::span<const CornerRow> half_corners();
std::span<const CornerRow> conversion_corners();
std::span<const CornerRow> division_corners();
std::vector<Opcode> scalar_corner_opcodes();

// The corners of a type.
std::vector<uint64_t> corners_of(Type type);
// Runs the row over all of them, in all modes of which it says something, and, if it is executed, with clamp.
void expect_corners(const CornerRow& row);

}  // namespace rung::amdgpu::corner

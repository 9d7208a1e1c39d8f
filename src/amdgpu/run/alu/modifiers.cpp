// Applies modifiers of operands and results, lane by lane.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/modifiers.hpp"

#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {
namespace {

constexpr int kLanes = kWaveLanes;

int bits_of_part(Select part) { return part == Select::dword ? 32 : part >= Select::word0 ? 16 : 8; }
int shift_of_part(Select part) {
  if (part == Select::dword) return 0;
  return part >= Select::word0 ? 16 * (static_cast<int>(part) - static_cast<int>(Select::word0))
                               : 8 * static_cast<int>(part);
}
uint32_t ones(int bits) { return bits == 32 ? ~uint32_t{0} : (uint32_t{1} << bits) - 1; }

bool is_packed(Kind kind) { return kind == Kind::packed_b16 || kind == Kind::packed_f16; }
bool is_16(Kind kind) { return kind == Kind::b16 || kind == Kind::f16; }

// Converts f16 to f32, exactly.
float widened(uint32_t half) {
  const uint32_t magnitude = (half & 0x7fff) << 13;
  const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u | magnitude : scaled;
  return std::bit_cast<float>(special | (half & 0x8000) << 16);
}

template <class F>
void each(uint32_t* lanes, F f) {
  for (int l = 0; l < kLanes; ++l) lanes[l] = f(lanes[l]);
}

void choose_registers(const InstructionOperand& o,
                      uint32_t* lanes) {  // packed f32: each half takes one of two registers
  uint32_t both[2 * kLanes];
  std::memcpy(both, lanes, sizeof(both));
  std::memcpy(lanes, both + (o.op_sel ? kLanes : 0), sizeof(Lanes));
  std::memcpy(lanes + kLanes, both + (o.op_sel_hi ? kLanes : 0), sizeof(Lanes));
}

struct FloatForm {
  uint32_t exponent, sign;
};
uint32_t without_denormal(uint32_t x, FloatForm form) { return x & form.exponent ? x : x & form.sign; }
constexpr FloatForm kF16{0x7c00, 0x8000}, kF32{0x7f800000, 0x80000000};

// Scaling and clamping f16 is exact in f32 except for denormals, which omod never meets.
template <class T>
T scaled_and_clamped(T x, const Instruction& i, bool scales, uint32_t mode) {
  constexpr T kFactors[] = {1, 2, 4, T(0.5)};
  if (scales) x = x * kFactors[i.omod] + T{0};  // -0 becomes +0
  if (!i.clamp) return x;
  if (std::isnan(x)) return mode & Mode::kDx10Clamp ? T{0} : x;
  return x > 1 ? T{1} : x > 0 ? x : T{0};
}
uint32_t clamped_half(uint32_t half, uint32_t mode) {
  if ((half & 0x7fff) > 0x7c00) return mode & Mode::kDx10Clamp ? 0 : half;
  return half & 0x8000 ? 0 : half > 0x3c00 ? 0x3c00 : half;
}
// Multiplies by a power of two: the exponent moves, unless it leaves its range.
uint32_t scaled_half(uint32_t half, int omod) {
  constexpr int kSteps[] = {0, 1, 2, -1};
  const int exponent = static_cast<int>(half >> 10 & 31);
  if (exponent == 31) return half;
  const int moved = exponent + kSteps[omod];
  if (exponent == 0 || moved <= 0) return 0;  // omod applies only if denormals are flushed; -0 becomes +0
  if (moved >= 31) return (half & 0x8000) | 0x7c00;
  return (half & 0x83ff) | static_cast<uint32_t>(moved) << 10;
}

uint32_t denormal_bits(Kind kind, uint32_t mode) {
  const bool is_32 = kind == Kind::f32 || kind == Kind::packed_f32 || kind == Kind::mix;
  return (is_32 ? mode & Mode::kDenormals32 : (mode & Mode::kDenormals16And64) >> 2) >> 4;
}

}  // namespace

void select_part(Select part, bool sign_extends, uint32_t* lanes) {
  const int bits = bits_of_part(part), shift = shift_of_part(part);
  if (bits == 32) return;
  each(lanes, [&](uint32_t x) {
    const uint32_t value = x >> shift & ones(bits);
    return sign_extends && value >> (bits - 1) ? value | ~ones(bits) : value;
  });
}

void insert_part(const Sdwa& sdwa, const uint32_t* old, uint32_t* result) {
  const int bits = bits_of_part(sdwa.destination), shift = shift_of_part(sdwa.destination);
  if (bits == 32) return;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t value = result[l] & ones(bits), placed = value << shift;
    const bool negative = value >> (bits - 1);
    const uint32_t above = shift + bits == 32 ? 0 : ~ones(shift + bits);
    if (sdwa.unused == Unused::preserve)
      result[l] = placed | (old[l] & ~(ones(bits) << shift));
    else
      result[l] = placed | (sdwa.unused == Unused::sext && negative ? above : 0);
  }
}

void choose_halves(const InstructionOperand& o, Kind kind, uint32_t* lanes) {
  if (is_16(kind)) {
    if (o.op_sel) each(lanes, [](uint32_t x) { return x >> 16; });
  } else if (is_packed(kind)) {
    const int low = o.op_sel ? 16 : 0, high = o.op_sel_hi ? 16 : 0;
    each(lanes, [&](uint32_t x) { return (x >> low & 0xffff) | (x >> high) << 16; });
  } else if (kind == Kind::packed_f32) {
    choose_registers(o, lanes);
  } else if (kind == Kind::mix && o.op_sel_hi) {
    const int shift = o.op_sel ? 16 : 0;
    each(lanes, [&](uint32_t x) { return std::bit_cast<uint32_t>(widened(x >> shift & 0xffff)); });
  }
}

void apply_signs(const InstructionOperand& o, Kind kind, uint32_t* lanes) {
  if (kind == Kind::packed_f32) {
    if (o.neg) each(lanes, [](uint32_t x) { return x ^ 0x80000000; });
    if (o.neg_hi) each(lanes + kLanes, [](uint32_t x) { return x ^ 0x80000000; });
    return;
  }
  const bool wide = kind == Kind::b64 || kind == Kind::f64;
  const uint32_t sign = is_16(kind) || is_packed(kind) ? 0x8000 : 0x80000000;
  const bool absolute = o.abs || (kind == Kind::mix && o.neg_hi);  // v_fma_mix: neg_hi is its abs
  uint32_t* const at = lanes + (wide ? kLanes : 0);
  if (absolute) each(at, [&](uint32_t x) { return x & ~sign; });
  if (o.neg) each(at, [&](uint32_t x) { return x ^ sign; });
  if (o.neg_hi && is_packed(kind)) each(at, [](uint32_t x) { return x ^ 0x80000000; });
}

void flush_denormals(Kind kind, uint32_t mode, Denormals which, uint32_t* lanes) {
  const uint32_t keep = denormal_bits(kind, mode);  // bit 0: those of sources, bit 1: those of results
  if (keep >> (which == Denormals::results ? 1 : 0) & 1) return;
  switch (kind) {
    case Kind::f16:
      return each(lanes, [](uint32_t x) { return without_denormal(x, kF16); });
    case Kind::packed_f16:
      return each(
          lanes, [](uint32_t x) { return without_denormal(x & 0xffff, kF16) | without_denormal(x >> 16, kF16) << 16; });
    case Kind::packed_f32:
      each(lanes + kLanes, [](uint32_t x) { return without_denormal(x, kF32); });
      [[fallthrough]];
    case Kind::f32:
    case Kind::mix:
      return each(lanes, [](uint32_t x) { return without_denormal(x, kF32); });
    case Kind::f64:
      for (int l = 0; l < kLanes; ++l)
        if (!(lanes[kLanes + l] & 0x7ff00000)) lanes[l] = 0, lanes[kLanes + l] &= 0x80000000;
      return;
    default:
      return;
  }
}

void scale_and_clamp(const Instruction& i, Kind kind, uint32_t mode, uint32_t* lanes) {
  // omod is "Ignored if output denormals are enabled", and in IEEE mode.
  const bool scales = i.omod && !(mode & Mode::kIeee) && !(denormal_bits(kind, mode) & 2);
  if (!scales && !i.clamp) return;
  const auto f32 = [&](uint32_t x) {
    return std::bit_cast<uint32_t>(scaled_and_clamped(std::bit_cast<float>(x), i, scales, mode));
  };
  const auto f16 = [&](uint32_t x) {
    const uint32_t half = scales ? scaled_half(x & 0xffff, i.omod) : x & 0xffff;
    return i.clamp ? clamped_half(half, mode) : half;
  };
  switch (kind) {
    case Kind::f32:
      return each(lanes, f32);
    case Kind::packed_f32:
      each(lanes, f32), each(lanes + kLanes, f32);
      return;
    case Kind::f16:
      return each(lanes, f16);
    case Kind::packed_f16:
      return each(lanes, [&](uint32_t x) { return f16(x) | f16(x >> 16) << 16; });
    case Kind::f64:
      for (int l = 0; l < kLanes; ++l) {
        const double x = std::bit_cast<double>(lanes[l] | uint64_t{lanes[kLanes + l]} << 32);
        const auto made = std::bit_cast<uint64_t>(scaled_and_clamped(x, i, scales, mode));
        lanes[l] = static_cast<uint32_t>(made), lanes[kLanes + l] = static_cast<uint32_t>(made >> 32);
      }
      return;
    default:
      return;
  }
}

Rounding::Rounding(const LaneRow& row, uint32_t mode) : before_(_mm_getcsr()) {
  const bool is_wide_or_half = row.result == Kind::f64 || row.result == Kind::f16 || row.result == Kind::packed_f16;
  const uint32_t by_mode = is_wide_or_half ? (mode & Mode::kRound16And64) >> 2 : mode & Mode::kRound32;
  const uint32_t rounding = row.to_nearest ? 0 : by_mode;
  constexpr uint32_t kHost[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO};
  _mm_setcsr((before_ & ~uint32_t{_MM_ROUND_MASK}) | kHost[rounding]);
}
Rounding::~Rounding() { _mm_setcsr(before_); }

}  // namespace rung::amdgpu

// The corners of each type, results by MODE, and the comparison of a row with what the emulator makes of its inputs.
// SPDX-License-Identifier: Apache-2.0
#include "corner_rows.hpp"

#include <algorithm>

#include "alu_fixture.hpp"
#include "amdgpu/run/alu/lane_row.hpp"

namespace rung::amdgpu::corner {
namespace {

int width_of(Type type) {
  switch (type) {
    case Type::b16:
    case Type::i16:
    case Type::u16:
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64:
    case Type::pk_f32:
      return 64;
    default:
      return 32;
  }
}
bool is_signed(Type type) {
  return type == Type::i16 || type == Type::i32 || type == Type::i64 || type == Type::pk_i16;
}
bool is_pair(Type type) {
  return type == Type::pk_f16 || type == Type::pk_bf16 || type == Type::pk_i16 || type == Type::pk_u16 ||
         type == Type::pk_f32;
}
bool is_number(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 || type == Type::pk_f16 ||
         type == Type::pk_bf16 || type == Type::pk_f32;
}
uint64_t ones(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t saturated(Wide whole, Type type, int bits) {
  const Wide most = static_cast<Wide>(ones(is_signed(type) ? bits - 1 : bits)), least = is_signed(type) ? -most - 1 : 0;
  return static_cast<uint64_t>(std::clamp(whole, least, most)) & ones(bits);
}

// What was got differs from what a part must be.
bool differs(const Part& part, uint64_t got, const Format& format) {
  const Number number{format, got};
  if (part.is_any) return false;
  if (part.is_nan) return !number.is_nan() || number.is_signalling();
  if (part.tolerance != 0) {
    const Quad away = number.is_nan() ? part.tolerance * 2 : number.value() - Number{format, part.bits}.value();
    return (away < 0 ? -away : away) > part.tolerance;
  }
  const uint64_t apart = std::max(got, part.bits) - std::min(got, part.bits);
  return apart > static_cast<uint64_t>(part.ulps);
}

// The lanes of one run, and what stood in the destination before.
constexpr uint64_t kBefore = 0x5aa5a55a5aa5a55a;
constexpr int kDestination = 2, kFirstSource = 10;

struct Run {
  const CornerRow& corner;
  const Row& row;
  bool accumulates, clamps;
  std::vector<In> lanes;
};

Instruction made_for(const Run& run) {
  Instruction i = instruction(run.row.opcode, v(kDestination, run.row.destination.registers), {});
  i.immediate = 0;
  i.clamp = run.clamps;
  i.source_count = run.row.source_count;
  for (int k = 0; k < run.row.source_count; ++k) {
    const Spec& spec = run.row.sources[k];
    InstructionOperand operand = v(static_cast<uint16_t>(kFirstSource + 2 * k), spec.registers);
    if (spec.form == Spec::Form::mask) operand = s(24, 2);
    operand.op_sel_hi = i.encoding == Encoding::vop3p && !(run.corner.flags & kMixed);
    i.sources[k] = operand;
  }
  return i;
}

uint64_t got_of(const Run& run, const OneWave& wave, int lane) {
  const uint64_t got =
      run.row.destination.registers == 2 ? wave.get64(kDestination, lane) : wave.get(kDestination, lane);
  return run.corner.flags & kHalvesInHigh ? got >> 16 : got;
}

std::string text_of(const Run& run, const In& in) {
  std::string text =
      std::string(name_of(run.row.opcode)) + (run.clamps ? " clamp" : "") + " (" + run.corner.section + ")";
  for (int k = 0; k < run.row.source_count + run.accumulates; ++k)
    text += ::testing::PrintToString(in.sources[k]) + " ";
  return text;
}

// The half that a result of 16 bits does not go to.
uint64_t other_half(const Run& run, uint64_t whole_register) {
  return run.corner.flags & kHalvesInHigh ? whole_register & 0xffff : whole_register >> 16 & 0xffff;
}

void compare(const Run& run, const OneWave& wave, size_t l) {
  const In& in = run.lanes[l];
  const Out out = run.corner.expected(in);
  const Type type = run.row.destination.type;
  const int lane = static_cast<int>(l), width = width_of(type) / out.count;
  const uint64_t got = got_of(run, wave, lane);
  for (int p = 0; p < out.count; ++p) {
    const Part& part = out.parts[p];
    Part wanted = part;
    wanted.bits = run.clamps && part.is_whole ? saturated(part.whole, type, width) : part.bits & ones(width);
    const uint64_t had = got >> (p * width) & ones(width);
    const Format format = is_number(type) ? format_of(type) : kSingle;
    EXPECT_FALSE(differs(wanted, had, format))
        << std::hex << text_of(run, in) << "mode 0x" << in.mode << ", part " << p << ": got 0x" << had << ", wanted "
        << (wanted.is_nan ? "a quiet NaN" : "0x") << wanted.bits;
  }
  if (out.carry >= 0) {
    EXPECT_EQ(wave.pair(20) >> l & 1, static_cast<uint64_t>(out.carry)) << std::hex << text_of(run, in) << "carry";
  }
  const uint64_t whole = wave.get(kDestination, lane);
  if (run.corner.flags & kUpperZero) {
    EXPECT_EQ(other_half(run, whole), 0u) << text_of(run, in);
  }
  const uint64_t before = run.accumulates ? in.sources[run.row.source_count] : kBefore;
  if (run.corner.flags & kUpperKept) {
    EXPECT_EQ(other_half(run, whole), other_half(run, before)) << text_of(run, in);
  }
}

void run_lanes(const Run& run, OneWave& wave, const Instruction& i, Handler handler) {
  wave.w.mode = run.lanes[0].mode;
  uint64_t mask = 0;
  for (size_t l = 0; l < run.lanes.size(); ++l) {
    const In& in = run.lanes[l];
    const int lane = static_cast<int>(l);
    for (int k = 0; k < run.row.source_count; ++k) wave.set64(kFirstSource + 2 * k, lane, in.sources[k]);
    wave.set64(kDestination, lane, run.accumulates ? in.sources[run.row.source_count] : kBefore);
    mask |= uint64_t{in.vcc} << l;
  }
  wave.set_pair(24, mask), wave.w.set_vcc(mask);
  handler(wave.w, i);
  ASSERT_EQ(wave.w.pause, Pause::none) << name_of(i.opcode) << ": " << wave.w.defect.detail;
  for (size_t l = 0; l < run.lanes.size(); ++l) compare(run, wave, l);
}

// All modes that a row with numbers must follow: as compilers ask, denormals flushed, one way and the other, signalling
// NaNs unheard, and the three other roundings.
std::vector<uint32_t> modes_of(const CornerRow& corner, const Row& row) {
  bool numbers = is_number(row.destination.type);
  for (int k = 0; k < row.source_count; ++k) numbers |= is_number(row.sources[k].type);
  if (!numbers || corner.flags & kUsualMode) return {Mode::kUsual};
  constexpr uint32_t kPlain = Mode::kDx10Clamp | Mode::kIeee;
  return {Mode::kUsual,
          kPlain,
          kPlain | 0x50,
          kPlain | 0xa0,
          Mode::kUsual & ~Mode::kIeee,
          Mode::kUsual | 0x5,
          Mode::kUsual | 0xa,
          Mode::kUsual | 0xf};
}

// All combinations of the sources' corners, one after the other.
class Combinations {
 public:
  Combinations(const Row& row, bool accumulates, bool singles) {
    const int count = row.source_count + accumulates;
    for (int k = 0; k < count; ++k) {
      const Spec& spec = k < row.source_count ? row.sources[k] : row.destination;
      const bool is_mask = spec.form == Spec::Form::mask;
      lists_.push_back(is_mask ? std::vector<uint64_t>{0, 1} : corners_of(singles ? Type::f32 : spec.type));
      masks_.push_back(is_mask);
    }
  }
  bool next(In& in) {
    uint64_t rest = at_++;
    for (size_t k = 0; k < lists_.size(); ++k) {
      const uint64_t value = lists_[k][rest % lists_[k].size()];
      rest /= lists_[k].size();
      if (masks_[k])
        in.vcc = value != 0;
      else
        in.sources[k] = value;
    }
    return rest == 0;
  }

 private:
  std::vector<std::vector<uint64_t>> lists_;
  std::vector<bool> masks_;
  uint64_t at_ = 0;
};

void expect_in_mode(const CornerRow& corner, const Row& row, uint32_t mode, bool clamps) {
  const LaneRow& lanes = lane_row_of(corner.opcode);
  Run run{corner, row, lanes.accumulates, clamps, {}};
  OneWave wave;
  const Instruction i = made_for(run);
  const Handler handler = alu_handler(i, Isa::gfx950);
  if (clamps && handler == nullptr) return;
  ASSERT_NE(handler, nullptr) << name_of(corner.opcode);
  Combinations all(row, lanes.accumulates, (corner.flags & kMixed) != 0);
  bool more = true;
  while (more && !::testing::Test::HasFailure()) {
    run.lanes.clear();
    for (int lane = 0; lane < kWaveLanes && more; ++lane) {
      In in{.row = &row, .mode = mode, .singles = (corner.flags & kMixed) != 0, .lane = lane};
      more = all.next(in);
      if (more) run.lanes.push_back(in);
    }
    if (!run.lanes.empty()) run_lanes(run, wave, i, handler);
  }
}

std::vector<uint64_t> corners_of_numbers(Type type) {
  switch (type) {
    // Bits above a type's own must not count.
    case Type::f16:
      return {0x55550000, 0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3800, 0x3e00,
              0xc100,     0x6400, 0x6401, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0xfe00, 0x7c01, 0xfd00};
    case Type::bf16:
      return {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x3f81, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81};
    case Type::pk_f32:
      return {0x3f80000080000000, 0x0000000100800000, 0x7f80000080000001, 0xff800000c0200000,
              0x7f8000013fc00000, 0x007fffff3f000000, 0x7f7fffff00000000, 0x33000001bf800000};
    case Type::f64:
      return {0,
              0x8000000000000000,
              1,
              0x8000000000000001,
              0x000fffffffffffff,
              0x0010000000000000,
              0x8010000000000000,
              0x3ff0000000000000,
              0xbff0000000000000,
              0x3ff0000000000001,
              0x3fe0000000000000,
              0xc004000000000000,
              0x400c000000000000,
              0x3ca0000000000001,
              0x41dfffffffc00000,
              0x41e0000000000000,
              0xc1e0000000200000,
              0x41effffffff00000,
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000001,
              0xfff8000000000000,
              0x7ff0000000000001,
              0x47efffffe0000000,
              0x380fffffffffffff};
    default:  // f32
      return {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000,
              0xbf800000, 0x3f800001, 0x3f000000, 0x3fc00000, 0xc0200000, 0x40600000, 0x33000001, 0x4b000001,
              0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x437f8000, 0x477ff000, 0x7f7fffff, 0xff7fffff,
              0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000, 0x7f800001, 0xffa00000};
  }
}

}  // namespace

Format format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::pk_f16:
      return kHalf;
    case Type::bf16:
    case Type::pk_bf16:
      return kBrain;
    case Type::f64:
      return kDouble;
    default:
      return kSingle;
  }
}

Wide In::u(int k) const { return sources[k] & ones(width_of(type(k))); }
Wide In::i(int k) const {
  const int unused = 64 - width_of(type(k));
  return static_cast<int64_t>(sources[k] << unused) >> unused;
}
Number In::by_mode(const Number& x) const {
  const unsigned keeps = x.format.bits == 32 ? mode >> 4 : mode >> 6;
  return keeps & 1 ? x : x.flushed();
}
Number In::n(int k) const {
  const Format format = singles ? kSingle : format_of(type(k));
  return by_mode({format, sources[k] & ones(format.bits)});
}
Number In::n(int k, bool high) const {
  const Format format = format_of(type(k));
  return by_mode({format, sources[k] >> (high ? format.bits : 0) & ones(format.bits)});
}
unsigned In::rounding(const Format& format) const { return (format.bits == 32 ? mode : mode >> 2) & 3; }
bool In::keeps_results(const Format& format) const { return ((format.bits == 32 ? mode >> 4 : mode >> 6) & 2) != 0; }

Part In::number(const Exact& x, bool negative_zero, const Format& to) const {
  if (x.value == 0 && x.rest == 0) return bits_part(negative_zero ? to.sign() : 0);
  const Number made{
      to, x.value - x.value != 0 ? to.infinity() | (x.value < 0 ? to.sign() : 0) : rounded(x, to, rounding(to))};
  return bits_part(keeps_results(to) ? made.bits : made.flushed().bits);
}
Part In::sum(const Number& a, const Number& b) const {
  if (a.is_nan() || b.is_nan()) return nan_part();
  if (a.is_infinite() && b.is_infinite() && a.negative() != b.negative()) return nan_part();
  if (a.is_infinite() || b.is_infinite()) return bits_part(a.is_infinite() ? a.bits : b.bits);
  const bool both = a.is_zero() && b.is_zero() && a.negative() == b.negative();
  return number(exact_sum(a.value(), b.value()), both ? a.negative() : rounding(a.format) == 2, a.format);
}
Part In::product(const Number& a, const Number& b) const {
  if (a.is_nan() || b.is_nan()) return nan_part();
  if ((a.is_infinite() && b.is_zero()) || (a.is_zero() && b.is_infinite())) return nan_part();
  return number({a.value() * b.value(), 0}, a.negative() != b.negative(), a.format);
}
Part In::fused(const Number& a, const Number& b, const Number& c) const {
  if (a.is_nan() || b.is_nan() || c.is_nan()) return nan_part();
  if ((a.is_infinite() && b.is_zero()) || (a.is_zero() && b.is_infinite())) return nan_part();
  const bool negative = a.negative() != b.negative(), infinite = a.is_infinite() || b.is_infinite();
  if (infinite && c.is_infinite() && negative != c.negative()) return nan_part();
  if (infinite) return bits_part(a.format.infinity() | (negative ? a.format.sign() : 0));
  if (c.is_infinite()) return bits_part(c.bits);
  const Quad product = a.value() * b.value();
  const bool both = product == 0 && c.is_zero() && negative == c.negative();
  return number(exact_sum(product, c.value()), both ? negative : rounding(a.format) == 2, a.format);
}
// V_MIN_F32 and V_MAX_F32 of section 12.7, and their siblings of other widths.
Number In::extreme(const Number& a, const Number& b, bool larger) const {
  if (ieee() && a.is_signalling()) return a.quieted();
  if (ieee() && b.is_signalling()) return b.quieted();
  if (a.is_nan()) return b;
  if (b.is_nan()) return a;
  if (a.is_zero() && b.is_zero()) return a.negative() == larger ? b : a;
  return (a.value() < b.value()) == larger ? b : a;
}

std::vector<uint64_t> corners_of(Type type) {
  if (is_pair(type) && type != Type::pk_f32) {  // each half's beside another's
    const std::vector<uint64_t> halves = corners_of(type == Type::pk_f16    ? Type::f16
                                                    : type == Type::pk_bf16 ? Type::bf16
                                                                            : Type::u16);
    std::vector<uint64_t> pairs;
    for (size_t n = 0; n < halves.size(); ++n) pairs.push_back(halves[n] | halves[(n * 5 + 3) % halves.size()] << 16);
    return pairs;
  }
  if (is_number(type)) return corners_of_numbers(type);
  switch (type) {
    // Bits above a type's own must not count.
    case Type::b16:
    case Type::i16:
    case Type::u16:
      return {0x55550000, 1, 2, 4, 15, 16, 17, 31, 0x7f, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xaaaaffff};
    case Type::b64:
    case Type::i64:
    case Type::u64:
      return {0,
              1,
              0x7fffffff,
              0x80000000,
              0xffffffff,
              0x100000000,
              0x7fffffffffffffff,
              0x8000000000000000,
              0x8000000000000001,
              ~uint64_t{0},
              0xfffffffffffffffe,
              0x0123456789abcdef,
              0xff00ff8001ff7f80};
    default:
      return {0,          1,          2,          4,          5,          7,          8,
              9,          15,         16,         17,         31,         32,         33,
              63,         64,         0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe,
              0x00ff80ff, 0x7fff8000, 0x00800000, 0x007fffff, 0xff800000, 0x12345678, 0x0c0d0b0a};
  }
}

void expect_corners(const CornerRow& corner) {
  const Row& row = row_of(corner.opcode);
  for (const uint32_t mode : modes_of(corner, row)) expect_in_mode(corner, row, mode, false);
  if (!is_number(row.destination.type)) expect_in_mode(corner, row, Mode::kUsual, true);
}

}  // namespace rung::amdgpu::corner

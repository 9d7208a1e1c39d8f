// Corners of memory instructions against the words of AMD's guide: atomics on numbers, two equal offsets, lanes that a
// pattern swizzles, and the bounds of buffers.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/alu/alu_names.hpp"
#include "amdgpu/run/alu/corner_rows.hpp"
#include "support/one_wave.hpp"

namespace rung::amdgpu {
namespace {

using corner::Exact;
using corner::Format;
using corner::Number;
using corner::Part;
using testing::constant_operand;
using testing::make_instruction;
using testing::OneWave;
using testing::scalar_operand;
using testing::vector_operand;

// ---- section 9.2: float atomics

constexpr uint32_t kFlush = Mode::kDx10Clamp | Mode::kIeee;
constexpr uint32_t kModes[] = {Mode::kUsual, kFlush, kFlush | 0x50, kFlush | 0xa0};

// Table 52: which denormals an atomic flushes, in LDS or in the L2 cache.
struct Rules {
  bool sources = false, result = false;
};
Rules rules_of(std::string_view operation, const Format& format, bool in_lds, uint32_t mode) {
  const bool adds = operation == "add";
  if (!in_lds) return {.sources = adds && format.bits == 32};
  if (adds && format.bits == 64) return {};
  const unsigned keeps = format.bits == 32 ? mode >> 4 : mode >> 6;
  return {.sources = !(keeps & 1), .result = adds && !(keeps & 2)};
}
Number flushed_if(bool flushes, const Number& x) { return flushes ? x.flushed() : x; }

// 9.2.3: sums round to nearest even, whatever MODE says.
Part sum_of(const Number& a, const Number& b, const Rules& rules) {
  const corner::In nearest{.mode = Mode::kUsual};
  const Number x = flushed_if(rules.sources, a), y = flushed_if(rules.sources, b);
  if (x.is_nan() || y.is_nan()) return {.bits = (x.is_nan() ? x : y).quieted().bits};
  const Part part = nearest.sum(x, y);
  return part.is_nan ? part : Part{.bits = flushed_if(rules.result, {a.format, part.bits}).bits};
}
// The guide's lists from smallest to largest, with quiet NaN at their far end.
int rank_of(const Number& x) { return x.is_nan() ? 0 : x.is_zero() ? (x.negative() ? 1 : 2) : 3; }
bool is_before(const Number& x, const Number& y) {
  if (rank_of(x) != 3 && rank_of(y) != 3) return rank_of(x) < rank_of(y);
  return x.value() < y.value();
}
Part extreme_of(const Number& a, const Number& b, const Rules& rules, bool larger) {
  if (a.is_signalling() || b.is_signalling()) return {.bits = (a.is_signalling() ? a : b).quieted().bits};
  if (a.is_nan() || b.is_nan()) return {.bits = (b.is_nan() ? a : b).bits};
  const Number x = flushed_if(rules.sources, a), y = flushed_if(rules.sources, b);
  return {.bits = (larger ? is_before(x, y) : is_before(y, x)) ? b.bits : a.bits};
}
Part swap_of(const Number& old, const Number& wanted, const Number& data, const Rules& rules) {
  const Number x = flushed_if(rules.sources, old), y = flushed_if(rules.sources, wanted);
  const bool same = !x.is_nan() && !y.is_nan() && (x.bits == y.bits || (x.is_zero() && y.is_zero()));
  return {.bits = same ? flushed_if(rules.sources, data).bits : old.bits};
}

// An atomic's name taken apart: "ds_min_rtn_f32", "global_atomic_pk_add_bf16".
struct Atomic {
  std::string_view name, space, operation;
  Format format;
  bool packed, returns;
  bool in_lds() const { return space == "ds"; }
};
std::optional<Atomic> atomic_of(std::string_view name) {
  Atomic made{.name = name};
  for (const std::string_view space : {"ds", "global", "flat", "buffer"})
    if (name.starts_with(space)) made.space = space;
  const std::string_view type = name.substr(name.rfind('_') + 1);
  if (made.space.empty() || (!made.in_lds() && name.find("_atomic_") == std::string_view::npos)) return std::nullopt;
  if (type == "f32") made.format = corner::kSingle;
  if (type == "f64") made.format = corner::kDouble;
  if (type == "f16") made.format = corner::kHalf;
  if (type == "bf16") made.format = corner::kBrain;
  for (const std::string_view operation : {"add", "min", "max", "cmpst"})
    if (name.find("_" + std::string(operation)) != std::string_view::npos) made.operation = operation;
  if (made.format.bits == 0 || made.operation.empty()) return std::nullopt;
  made.packed = name.find("_pk_") != std::string_view::npos;
  made.returns = name.find("_rtn_") != std::string_view::npos;
  return made;
}

struct Words {
  uint64_t old, data, more;
};
Part expected_of(const Atomic& atomic, const Rules& rules, const Words& words) {
  const auto number = [&](uint64_t bits) {
    return Number{atomic.format, atomic.format.bits == 64 ? bits : bits & ((uint64_t{1} << atomic.format.bits) - 1)};
  };
  const Number old = number(words.old), data = number(words.data);
  if (atomic.operation == "add") return sum_of(old, data, rules);
  if (atomic.operation == "cmpst") return swap_of(old, data, number(words.more), rules);
  return extreme_of(old, data, rules, atomic.operation == "max");
}

Type type_of(const Format& format) {
  return format.bits == 64 ? Type::f64 : format.bits == 32 ? Type::f32 : format.mantissa == 10 ? Type::f16 : Type::bf16;
}

// One lane, at 64 behind a buffer's begin or LDS's.
class AtomicRun {
 public:
  explicit AtomicRun(const Atomic& atomic) : atomic_(atomic) {
    data_ = reinterpret_cast<std::byte*>(wave_.make(std::vector<uint32_t>(64)));
    wave_.wave().set_exec(1);
    wave_.set_scalar_pair(8, reinterpret_cast<uint64_t>(data_)), wave_.s(10) = 256, wave_.s(11) = 0;
    if (atomic.in_lds() || atomic.space == "buffer")
      wave_.v(0, 0) = 64;
    else
      wave_.set_pair(0, 0, reinterpret_cast<uint64_t>(data_) + 64);
    if (atomic.in_lds()) wave_.set_local<uint64_t>(64, 0), data_ = wave_.group().lds.data();
  }
  uint64_t run(uint32_t mode, uint64_t old, uint64_t data, uint64_t more) {
    const unsigned registers = atomic_.format.bits == 64 ? 2 : 1;
    wave_.wave().mode = mode;
    std::memcpy(data_ + 64, &old, 4 * registers);
    wave_.set_pair(4, 0, data), wave_.set_pair(6, 0, more);
    const InstructionOperand to = atomic_.returns ? vector_operand(8, registers) : InstructionOperand{};
    Instruction i = make_instruction(opcode_named(atomic_.name), row_of(opcode_named(atomic_.name)).encoding, to, {});
    i.sources[i.source_count++] = vector_operand(0, atomic_.space == "global" || atomic_.space == "flat" ? 2 : 1);
    i.sources[i.source_count++] = vector_operand(4, registers);
    if (atomic_.operation == "cmpst") i.sources[i.source_count++] = vector_operand(6, registers);
    if (atomic_.space == "buffer") {
      i.sources[i.source_count++] = scalar_operand(8, 4);
      i.sources[i.source_count++] = constant_operand(0);
      i.memory.offen = true;
    } else if (!atomic_.in_lds()) {
      i.sources[i.source_count++] = InstructionOperand{};
    }
    wave_.run(i);
    wave_.wait();
    uint64_t now = 0;
    std::memcpy(&now, data_ + 64, 4 * registers);
    return now;
  }

 private:
  const Atomic& atomic_;
  OneWave wave_;
  std::byte* data_ = nullptr;
};

void expect_atomic(const Atomic& atomic) {
  AtomicRun run(atomic);
  const std::vector<uint64_t> corners = corner::corners_of(type_of(atomic.format));
  const int bits = atomic.format.bits, parts = atomic.packed ? 2 : 1;
  for (const uint32_t mode : kModes)
    for (size_t a = 0; a < corners.size(); ++a)
      for (size_t b = 0; b < corners.size(); ++b) {
        uint64_t old = corners[a], data = corners[b];
        const uint64_t more = corners[(a + b) % corners.size()];
        if (atomic.packed) {  // the other half the other way round
          old = (old & 0xffff) | corners[b] << 16, data = (data & 0xffff) | corners[a] << 16;
          old &= 0xffffffff, data &= 0xffffffff;
        }
        const uint64_t got = run.run(mode, old, data, more);
        const Rules rules = rules_of(atomic.operation, atomic.format, atomic.in_lds(), mode);
        for (int p = 0; p < parts; ++p) {
          const Part wanted = expected_of(atomic, rules, {old >> (16 * p), data >> (16 * p), more});
          const uint64_t had = bits == 64 ? got : got >> (16 * p) & ((uint64_t{1} << bits) - 1);
          const Number number{atomic.format, had};
          ASSERT_TRUE(wanted.is_nan ? number.is_nan() && !number.is_signalling() : had == wanted.bits)
              << atomic.name << std::hex << " of 0x" << old << " and 0x" << data << ", mode 0x" << mode << ": got 0x"
              << had << ", wanted 0x" << wanted.bits;
        }
      }
}

TEST(MemoryCorners, AtomicsOnNumbers) {
  int tested = 0;
  for (const std::string_view name : opcode_names()) {
    const std::optional<Atomic> atomic = atomic_of(name);
    if (!atomic) continue;
    expect_atomic(*atomic);
    if (HasFailure()) return;
    ++tested;
  }
  // In LDS with and without the old value: four of f32, four of f64, two packed; in memory, three times: f32, three of
  // f64, f16, and bf16 but for buffers.
  EXPECT_EQ(tested, 2 * 10 + 3 * 5 + 3);
}

// ---- section 11.3.1: "Specify only one address by setting both offsets to the same value. This causes only one read
// or write to occur and uses only the first DATA0."

TEST(MemoryCorners, TakeEqualOffsetsAsOneAccess) {
  const struct {
    Opcode read, write;
    unsigned registers, unit;
  } cases[] = {{Opcode::ds_read2_b32, Opcode::ds_write2_b32, 1, 4},
               {Opcode::ds_read2_b64, Opcode::ds_write2_b64, 2, 8},
               {Opcode::ds_read2st64_b32, Opcode::ds_write2st64_b32, 1, 256},
               {Opcode::ds_read2st64_b64, Opcode::ds_write2st64_b64, 2, 512}};
  for (const auto& c : cases) {
    OneWave wave;
    wave.wave().set_exec(1);
    wave.v(0, 0) = 0;
    for (unsigned r = 0; r < 4; ++r) wave.v(4 + r, 0) = 0xa0 + r, wave.v(8 + r, 0) = 0xb0 + r, wave.v(12 + r, 0) = 0xcc;
    Instruction write = make_instruction(
        c.write, Encoding::ds, {}, {vector_operand(0), vector_operand(4, c.registers), vector_operand(8, c.registers)});
    write.memory.offset = 0x303;
    wave.run(write);
    const uint64_t bytes = wave.group().counts.lds_bytes;
    EXPECT_EQ(bytes, 4 * c.registers) << name_of(c.write);
    Instruction read = make_instruction(c.read, Encoding::ds, vector_operand(12, 2 * c.registers), {vector_operand(0)});
    read.memory.offset = 0x303;
    wave.run(read);
    for (unsigned r = 0; r < 2 * c.registers; ++r)
      EXPECT_EQ(wave.v(12 + r, 0), r < c.registers ? 0xa0 + r : 0xcc) << name_of(c.read) << ", register " << r;
    EXPECT_EQ(wave.wave().pending[12], 1);
    EXPECT_EQ(wave.wave().pending[12 + c.registers], 0);
    // Different ones are two.
    read.memory.offset = 0x203;
    EXPECT_EQ(wave.find(read).kind, DefectKind::uninitialised);
  }
}

// ---- section 12.12, DS_SWIZZLE_B32: its examples, of lanes whose values count from 1.

TEST(MemoryCorners, LanesSwizzledAsTheGuidesExamples) {
  const struct {
    unsigned offset;
    std::array<unsigned, 32> expected;
  } examples[] = {
      {0xe000, {0x01, 0x11, 0x09, 0x19, 0x05, 0x15, 0x0d, 0x1d, 0x03, 0x13, 0x0b, 0x1b, 0x07, 0x17, 0x0f, 0x1f,
                0x02, 0x12, 0x0a, 0x1a, 0x06, 0x16, 0x0e, 0x1e, 0x04, 0x14, 0x0c, 0x1c, 0x08, 0x18, 0x10, 0x20}},
      {0xe010, {0x01, 0x09, 0x05, 0x0d, 0x03, 0x0b, 0x07, 0x0f, 0x02, 0x0a, 0x06, 0x0e, 0x04, 0x0c, 0x08, 0x10,
                0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b, 0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20}},
      {0xc020, {0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
                0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x01}},
      {0xc421, {0x1f, 0x02, 0x01, 0x04, 0x03, 0x06, 0x05, 0x08, 0x07, 0x0a, 0x09, 0x0c, 0x0b, 0x0e, 0x0d, 0x10,
                0x0f, 0x12, 0x11, 0x14, 0x13, 0x16, 0x15, 0x18, 0x17, 0x1a, 0x19, 0x1c, 0x1b, 0x1e, 0x1d, 0x20}}};
  OneWave wave;
  for (int lane = 0; lane < 64; ++lane) wave.v(1, lane) = static_cast<uint32_t>(lane + 1);
  const auto run = [&](unsigned offset) {
    Instruction i = make_instruction(Opcode::ds_swizzle_b32, Encoding::ds, vector_operand(4), {vector_operand(1)});
    i.memory.offset = static_cast<int32_t>(offset);
    wave.run(i);
    wave.wait();
  };
  for (const auto& example : examples) {
    run(example.offset);
    for (int lane = 0; lane < 64; ++lane)
      EXPECT_EQ(wave.v(4, lane), example.expected[static_cast<size_t>(lane) % 32] + static_cast<unsigned>(lane & 32))
          << std::hex << example.offset << ", lane " << lane;
  }
  run(0xe01f);  // "No swizzle"
  for (int lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.v(4, lane), static_cast<uint32_t>(lane + 1));
}

// ---- section 9.1.5.1: what a buffer's range check asks depends on its kind

TEST(MemoryCorners, BoundsOfBuffersByTheirKind) {
  OneWave wave;
  std::vector<uint32_t> values(4096);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<uint32_t>(n);
  const auto base = reinterpret_cast<uint64_t>(wave.make(values));
  const auto load = [&](uint32_t stride, uint32_t records, uint32_t last, bool indexed) {
    wave.set_scalar_pair(8, base | uint64_t{stride} << 48);
    wave.s(10) = records, wave.s(11) = last;
    for (int lane = 0; lane < 64; ++lane) wave.v(0, lane) = static_cast<uint32_t>(indexed ? lane : 8 * lane);
    Instruction i = make_instruction(Opcode::buffer_load_dwordx2, Encoding::mubuf, vector_operand(4, 2),
                                     {vector_operand(0), scalar_operand(8, 4), constant_operand(0)});
    i.memory.offen = !indexed, i.memory.idxen = indexed;
    wave.run(i);
    wave.wait();
  };
  constexpr uint32_t kAddsLane = 1u << 23;
  load(0, 100, 0, false);  // raw: bytes, dword by dword
  EXPECT_EQ(wave.v(4, 12), 24u);
  EXPECT_EQ(wave.v(5, 12), 0u);
  EXPECT_EQ(wave.v(4, 13), 0u);
  load(16, 100, 0, false);  // so is one with records that no index asks for
  EXPECT_EQ(wave.v(4, 12), 24u);
  EXPECT_EQ(wave.v(5, 12), 0u);
  EXPECT_EQ(wave.v(4, 13), 0u);
  load(16, 40, 0, true);  // structured: records
  EXPECT_EQ(wave.v(5, 39), 4u * 39 + 1);
  EXPECT_EQ(wave.v(4, 40), 0u);
  load(16, 0, kAddsLane, false);  // private: no bounds
  EXPECT_EQ(wave.v(4, 3), 4u * 3 + 2 * 3);
  EXPECT_EQ(wave.v(5, 63), 4u * 63 + 2 * 63 + 1);
}

// ---- section 9.1.5.3: elements of swizzled buffers, and indices that lanes add to

TEST(MemoryCorners, AddressesOfSwizzledBuffers) {
  OneWave wave;
  std::vector<uint32_t> values(4096);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<uint32_t>(n);
  const auto base = reinterpret_cast<uint64_t>(wave.make(values));
  constexpr uint64_t kStride = 32;
  const struct {
    Opcode opcode;
    unsigned registers;
  } loads[] = {{Opcode::buffer_load_dword, 1}, {Opcode::buffer_load_dwordx2, 2}, {Opcode::buffer_load_dwordx4, 4}};
  for (const uint32_t element_code : {1u, 2u, 3u})
    for (const uint32_t index_code : {0u, 1u, 2u, 3u})
      for (const bool adds_lane : {false, true})
        for (const auto& each : loads) {
          const uint64_t element = 2u << element_code, index_stride = 8u << index_code;
          wave.set_scalar_pair(8, base | kStride << 48 | uint64_t{1} << 63);
          wave.s(10) = 128, wave.s(11) = element_code << 19 | index_code << 21 | (adds_lane ? 1u << 23 : 0u);
          const auto index_of = [](uint32_t lane) { return lane * 5 % 61; };
          const auto offset_of = [&](uint32_t lane) { return lane * 16 % kStride; };
          for (uint32_t lane = 0; lane < 64; ++lane) {
            wave.v(0, static_cast<int>(lane)) = index_of(lane);
            wave.v(1, static_cast<int>(lane)) = static_cast<uint32_t>(offset_of(lane));
          }
          Instruction load = make_instruction(each.opcode, Encoding::mubuf, vector_operand(4, each.registers),
                                              {vector_operand(0, 2), scalar_operand(8, 4), constant_operand(64)});
          load.memory.offen = load.memory.idxen = true;
          wave.run(load);
          wave.wait();
          for (uint32_t lane = 0; lane < 64; ++lane)
            for (uint32_t k = 0; k < each.registers; ++k) {
              const uint64_t index = index_of(lane) + (adds_lane ? lane : 0), offset = offset_of(lane) + 4 * k;
              const uint64_t byte = (index / index_stride * kStride + offset / element * element) * index_stride +
                                    index % index_stride * element + offset % element;
              const uint64_t expected = index < 128 ? (64 + byte) / 4 : 0;
              ASSERT_EQ(wave.v(4 + k, static_cast<int>(lane)), expected)
                  << "lane " << lane << ", elements of " << element << ", " << index_stride << " beside each other";
            }
        }
}

// A buffer whose lanes are added has a stride of 18 bits.
TEST(MemoryCorners, StridesOfBuffersToWhichLanesAreAdded) {
  OneWave wave;
  std::vector<uint32_t> values(64 << 10);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<uint32_t>(n);
  const auto base = reinterpret_cast<uint64_t>(wave.make(values));
  wave.wave().set_exec(0xf);
  wave.set_scalar_pair(8, base | uint64_t{16} << 48);
  for (const uint32_t high : {0u, 1u, 2u, 3u}) {
    wave.s(10) = 0, wave.s(11) = 1u << 23 | high << 15;
    wave.run(make_instruction(Opcode::buffer_load_dword, Encoding::mubuf, vector_operand(4),
                              {vector_operand(0), scalar_operand(8, 4), constant_operand(4)}));
    wave.wait();
    for (int lane = 0; lane < 4; ++lane)
      EXPECT_EQ(wave.v(4, lane), (static_cast<uint32_t>(lane) * (16 + high * 16384) + 4) / 4) << high;
  }
}

}  // namespace
}  // namespace rung::amdgpu

// Every row of lane code: the code for AVX2 gives what the plain code gives; and which instructions have no handler.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/lane_row.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

constexpr std::string_view kNames[] = {
#define RUNG_AMD_OPCODE(name) #name,
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
};

// Bits at random, and among them what floats treat as special.
uint32_t any_bits(std::mt19937& random) {
  constexpr uint32_t kSpecial[] = {0,          1,          0x3f800000, 0x7f800000, 0x80000000, 0xff800000, 0x00800000,
                                   0x7f7fffff, 0xffffffff, 0x3c003c00, 0x7c007c00, 0x00010001, 0x3ff00000, 0x7ff00000};
  const auto x = static_cast<uint32_t>(random());
  return x % 3 == 0 ? kSpecial[x / 3 % std::size(kSpecial)] : static_cast<uint32_t>(random());
}

// NaN is NaN: which operand's payload comes out is left open.
uint64_t canonical(Kind kind, uint32_t low, uint32_t high) {
  const auto half = [](uint32_t h) { return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h; };
  const auto single = [](uint32_t x) { return (x & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : x; };
  switch (kind) {
    case Kind::f16:
      return half(low & 0xffff);
    case Kind::packed_f16:
      return half(low & 0xffff) | half(low >> 16) << 16;
    case Kind::f32:
      return single(low);
    case Kind::packed_f32:
      return single(low) | uint64_t{single(high)} << 32;
    case Kind::f64: {
      const uint64_t x = low | uint64_t{high} << 32;
      return std::isnan(as_double(x)) ? 1 : x;
    }
    default:
      return low | uint64_t{high} << 32;
  }
}

struct Buffers {
  alignas(64) uint32_t sources[4][32 * 64], results[2][32 * 64] = {}, masks[2][64] = {};
};

TEST(AluLanes, CodeForAvx2GivesWhatPlainCodeGives) {
  if (!is_supported(LaneCode::avx2)) GTEST_SKIP() << "this processor has no AVX2";
  const auto plain = lane_rows_of(LaneCode::baseline), fast = lane_rows_of(LaneCode::avx2);
  ASSERT_EQ(plain.size(), fast.size());
  std::mt19937 random(11);
  const auto b = std::make_unique<Buffers>();
  int compared = 0;
  for (size_t k = 0; k < plain.size(); ++k) {
    const LaneRow& row = plain[k];
    ASSERT_EQ(row.run == nullptr, fast[k].run == nullptr) << kNames[k];
    if (!row.run) continue;
    for (int round = 0; round < 4; ++round) {
      for (int s = 0; s < 4; ++s)
        for (uint32_t& x : b->sources[s]) x = row.sources[s] == Kind::mask ? 0 - (random() & 1) : any_bits(random);
      for (int code = 0; code < 2; ++code) {
        Frame f{.result = b->results[code], .mask = b->masks[code], .mode = Mode::kUsual, .immediate = 0x6a};
        for (int s = 0; s < 4; ++s) f.source[s] = b->sources[s];
        const LaneRow& own = code == 0 ? row : fast[k];
        (round % 2 && own.saturated ? own.saturated : own.run)(f);
      }
      for (int l = 0; l < 64; ++l) {
        const int high = row.result_registers > 1 ? 64 : 0;
        ASSERT_EQ(canonical(row.result, b->results[0][l], b->results[0][l + high]),
                  canonical(row.result, b->results[1][l], b->results[1][l + high]))
            << kNames[k] << std::hex << ": 0x" << b->sources[0][l] << ", 0x" << b->sources[1][l];
        if (!row.carry_out) continue;
        ASSERT_EQ(b->masks[0][l], b->masks[1][l]) << kNames[k];
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(AluLanes, UseTheRegisterCountsOfTheInstructionTable) {
  for (const LaneRow& lanes : lane_rows_of(LaneCode::baseline)) {
    if (!lanes.run) continue;
    const Row& row = row_of(lanes.opcode);
    const int implied = lanes.accumulates + lanes.reads_vcc;
    EXPECT_EQ(lanes.source_count - implied, row.source_count) << name_of(lanes.opcode);
    for (int s = 0; s < row.source_count; ++s)
      EXPECT_EQ(lanes.sources[s] == Kind::mask ? 2 : lanes.source_registers[s], row.sources[s].registers)
          << name_of(lanes.opcode) << ", source " << s;
    const int written = lanes.result == Kind::mask ? 2 : lanes.result_registers;
    EXPECT_EQ(written, row.destination.registers) << name_of(lanes.opcode);
    EXPECT_EQ(lanes.carry_out, row.destination.carry) << name_of(lanes.opcode);
  }
}

TEST(AluLanes, MasksGoToBitsAndBack) {
  alignas(64) uint32_t lanes[64];
  for (const uint64_t bits : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x8000000100000001}, uint64_t{0x123456789abcdef0}}) {
    lanes_of(bits, lanes);
    for (int l = 0; l < 64; ++l) EXPECT_EQ(lanes[l], bits >> l & 1 ? 0xffffffffu : 0u);
    EXPECT_EQ(bits_of(lanes), bits);
  }
}

// Instructions of arithmetic and control that are decoded but not executed, and why.
constexpr std::pair<std::string_view, std::string_view> kNotExecuted[] = {
    {"s_barrier", "waits for other waves"},           {"s_cbranch_g_fork", "no compiler makes forks"},
    {"s_cbranch_i_fork", "no compiler makes forks"},  {"s_cbranch_join", "no compiler makes forks"},
    {"s_endpgm_ordered_ps_done", "of pixel shaders"}, {"s_rfe_b64", "of trap handlers"},
    {"s_rfe_restore_b64", "of trap handlers"},        {"s_sendmsghalt", "of trap handlers"},
    {"s_setvskip", "no compiler makes it"},           {"s_waitcnt", "waits for memory"},
    {"v_screen_partition_4se_b32", "of graphics"},
};

TEST(AluLanes, EveryOtherInstructionHasAHandler) {
  std::vector<std::string_view> without;
  for (size_t k = 0; k < std::size(kNames); ++k) {
    const Row& row = row_of(static_cast<Opcode>(k));
    if (row.encoding == Encoding::smem || row.encoding >= Encoding::ds) continue;
    if (kNames[k].starts_with("v_mfma") || kNames[k].starts_with("v_smfmac")) continue;
    Instruction i = instruction(row.opcode, v(2, row.destination.registers), {});
    i.source_count = row.source_count;
    for (int s = 0; s < row.source_count; ++s) i.sources[s] = v(static_cast<uint16_t>(8 * s), row.sources[s].registers);
    if (!alu_handler(i, Isa::gfx950)) without.push_back(kNames[k]);
  }
  std::vector<std::string_view> expected;
  for (const auto& [name, reason] : kNotExecuted) expected.push_back(name);
  EXPECT_EQ(without, expected);
}

}  // namespace
}  // namespace rung::amdgpu

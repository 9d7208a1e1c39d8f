// What is read in machine code that is not run: loops, widths, waits, spills.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/kernel_reading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/made_code_object.hpp"

namespace rung::amdgpu {
namespace {

using ::rung::testing::MadeCodeObject;
using ::rung::testing::MadeKernel;
using ::testing::ElementsAre;
using ::testing::Pair;

const std::vector<uint32_t> kLoop{
    0xdc5c8000, 0x047f0002,  // global_load_dwordx4 v[4:7], v[2:3], off
    0xdc508010, 0x087f0002,  // global_load_dword v8, v[2:3], off offset:16
    0xbf8c0f70,              // s_waitcnt vmcnt(0)
    0xd9be0000, 0x00000401,  // ds_write_b128 v1, v[4:7]
    0xd8ee0100, 0x04000001,  // ds_read2_b64 v[4:7], v1 offset1:1
    0xd8b60000, 0x09000001,  // ds_read_u16_d16_hi v9, v1
    0xd9c60000, 0x04000001,  // ds_read_b64_tr_b16 v[4:5], v1
    0xd3e10000, 0x04023902,  // v_mfma_f32_16x16x16_bf16 v[0:3], v[2:3], v[28:29], v[0:3]
    0xbf85fff0,              // s_cbranch_scc1 to the first
    0xdc504000, 0x01000000,  // scratch_load_dword v1, off, s0
    0xdc688000, 0x007f0802,  // global_store_short v[2:3], v8, off
    0xbf8c0f70,              // s_waitcnt vmcnt(0)
    0xddf48000, 0x007f0002,  // global_load_lds_dwordx4 v[2:3], off
    0xbf810000,              // s_endpgm
};

CodeReading read(const std::vector<uint32_t>& words) {
  return read_listing(list_code(std::as_bytes(std::span(words)), Isa::gfx950));
}

TEST(Isa, CountsByWidthInLoopsAndOutside) {
  const CodeReading made = read(kLoop);
  EXPECT_EQ(made.instructions, 14u);
  EXPECT_EQ(made.in_loops, 9u);
  EXPECT_EQ(made.loops, 1u);
  EXPECT_EQ(made.undecoded, 0u);
  EXPECT_THAT(made.global.accesses, ElementsAre(0, 1, 1, 0, 0, 2));
  EXPECT_THAT(made.global_in_loops.accesses, ElementsAre(0, 0, 1, 0, 0, 1));
  EXPECT_THAT(made.lds_in_loops.accesses, ElementsAre(0, 1, 0, 3, 0, 1));
  EXPECT_EQ(made.global_in_loops.bytes(), 20u);
  EXPECT_DOUBLE_EQ(made.global_in_loops.wide_share(), 0.8);
  EXPECT_THAT(made.matrix_by_name, ElementsAre(Pair("v_mfma_f32_16x16x16_bf16", 1u)));
  EXPECT_EQ(made.matrix, 1u);
  EXPECT_EQ(made.scratch, 1u);
  EXPECT_EQ(made.scratch_in_loops, 0u);
}

TEST(Isa, CountsFullWaitsInLoadingLoopsAsDrains) {
  EXPECT_EQ(read(kLoop).drains_in_loops, 1u);
  std::vector<uint32_t> one_stays = kLoop;
  one_stays[4] = 0xbf8c0f71;  // vmcnt(1)
  EXPECT_EQ(read(one_stays).drains_in_loops, 0u);
  std::vector<uint32_t> sixteen_stay = kLoop;
  sixteen_stay[4] = 0xbf8c4f70;  // vmcnt(16): its high bits stand elsewhere
  EXPECT_EQ(read(sixteen_stay).drains_in_loops, 0u);
  EXPECT_EQ(read({0xbf8c0f70, 0xbf85fffe, 0xbf810000}).drains_in_loops, 0u);  // a loop without loads
}

TEST(Isa, WordsThatDoNotDecodeAreCounted) {
  const CodeReading made = read({0xbf800000, 0xffffffff, 0xbf810000});
  EXPECT_EQ(made.instructions, 2u);
  EXPECT_EQ(made.undecoded, 1u);
}

TEST(Isa, BranchesWithoutWorkAreCounted) {
  const uint32_t choose = 0xbeb02008, choose_vcc = 0xbeb0206a;  // s_and_saveexec_b64 s[48:49], s[8:9] or vcc
  const uint32_t back = 0x87fe307e, other = 0x87fe327e;         // s_or_b64 exec, exec, s[48:49] or s[50:51]
  const uint32_t work = 0x7f06032e, end = 0xbf810000;           // v_mov_b32 v131, v46; s_endpgm
  EXPECT_EQ(read({choose, back, choose_vcc, back, end}).empty_branches, 2u);
  EXPECT_EQ(read({choose, work, back, end}).empty_branches, 0u);
  EXPECT_EQ(read({choose, other, end}).empty_branches, 0u);
  EXPECT_EQ(read({back, choose, end}).empty_branches, 0u);
}

MadeKernel loop_kernel() {
  MadeKernel kernel{.name = "loop", .code = kLoop};
  kernel.vgprs = 172;
  kernel.scratch_bytes = 16;
  return kernel;
}

std::vector<KernelReading> must_read(const MadeCodeObject& object, uint32_t lds_bytes = 0) {
  const auto code = read_code_object(object.bytes());
  EXPECT_TRUE(code) << code.error().message;
  if (!code) return {};
  auto readings = read_kernels(*code, {.lds_bytes = lds_bytes});
  EXPECT_TRUE(readings);
  return readings.value_or(std::vector<KernelReading>{});
}

TEST(Isa, FindingsNameTheirNumbers) {
  const MadeCodeObject object({loop_kernel()}, Isa::gfx950);
  const auto readings = must_read(object);
  ASSERT_EQ(readings.size(), 1u);
  std::vector<std::string> texts;
  for (const auto& found : readings[0].findings)
    texts.push_back(std::string(kIsaFindingWords[static_cast<size_t>(found.kind)]) + ": " + found.text);
  EXPECT_THAT(texts,
              ElementsAre("scratch: 16 bytes of scratch a lane, touched by 1 instructions, 0 in loops",
                          "narrow-lds: 38 % of the bytes of LDS in loops are in 16-byte accesses: 1 of 2 3 of 8 1 of "
                          "16; narrow: 2 by alignment, 2 by unknown",
                          "drain: 1 waits for all memory in loops that load"));
}

TEST(Isa, OccupancyCountsLdsThatALaunchAdds) {
  const MadeCodeObject object({loop_kernel()}, Isa::gfx950);
  EXPECT_EQ(must_read(object).front().occupancy.limit, Limit::vgprs);
  EXPECT_EQ(step_text(must_read(object).front().occupancy), "4 vector registers above 3 waves");
  const Occupancy with_lds = must_read(object, 100 * 1024).front().occupancy;
  EXPECT_EQ(with_lds.limit, Limit::lds);
  EXPECT_EQ(with_lds.groups, 1u);
}

}  // namespace
}  // namespace rung::amdgpu

// Which instructions are in loops: by where control goes, not by where code stands.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amdgpu/assembly.hpp"

namespace rung::amdgpu {
namespace {

// An 'x' for each instruction in a loop, an 'i' for those in an inner one.
std::string marks_of(const std::string& lines) {
  const auto read = read_assembly("k:\n" + lines + "\ns_endpgm\n", Target::gfx942);
  EXPECT_TRUE(read) << read.error().message;
  if (!read) return "";
  const auto blocks = blocks_of(read->front().listing);
  const auto loops = loops_of(blocks);
  const auto any = within(loops, blocks, [](const Loop&) { return true; });
  const auto inner = within(loops, blocks, [](const Loop& loop) { return loop.innermost; });
  std::string marks;
  for (size_t i = 0; i < any.size(); ++i) marks += inner[i] ? 'i' : any[i] ? 'x' : '.';
  return marks;
}

TEST(Loops, AreWhatIsReachedAgain) {
  EXPECT_EQ(marks_of("s_nop 0\n.L1:\ns_nop 1\ns_cbranch_scc1 .L1\ns_nop 2"), ".ii..");
  EXPECT_EQ(marks_of("s_nop 0"), "..");
  EXPECT_EQ(marks_of(".L1:\ns_cbranch_scc0 .L2\ns_nop 0\ns_branch .L1\n.L2:"), "iii.");
}

TEST(Loops, AreNoneWhereABranchBackOnlyReturnsToWhatFollows) {
  // A block that runs once stands behind what follows it.
  EXPECT_EQ(marks_of("s_cbranch_scc1 .L2\n.L1:\ns_nop 0\ns_endpgm\n.L2:\ns_nop 1\ns_branch .L1"), "......");
  // In a loop it belongs to that one, which is an inner one all the same.
  EXPECT_EQ(
      marks_of(".L0:\ns_cbranch_scc1 .L2\n.L1:\ns_nop 0\ns_cbranch_scc0 .L0\ns_endpgm\n.L2:\ns_nop 1\ns_branch .L1"),
      "iii.ii.");
}

TEST(Loops, HoldOthers) {
  EXPECT_EQ(marks_of(".L1:\ns_nop 0\n.L2:\ns_nop 1\ns_cbranch_scc1 .L2\ns_nop 2\ns_cbranch_scc1 .L1"), "xiixx.");
  EXPECT_EQ(marks_of(".L1:\ns_nop 0\n.L2:\ns_cbranch_scc1 .L2\n.L3:\ns_cbranch_scc1 .L3\ns_cbranch_scc1 .L1"), "xiix.");
}

}  // namespace
}  // namespace rung::amdgpu

// Which instructions are in loops: by where control goes, not by where code stands.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "amdgpu/code/assembly.hpp"

namespace rung::amdgpu {
namespace {

// An 'x' for each instruction in a loop, an 'i' for those in an inner one.
std::string marks_of(const std::string& lines) {
  const auto read = read_assembly("k:\n" + lines + "\ns_endpgm\n", Isa::gfx942);
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

TEST(Loops, AreNotMadeByABackwardBranchAlone) {
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

// Blocks at random, beside who reaches whom.
TEST(Loops, AreWhatIsReachedAgainInAnyGraph) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 1 + random() % 9;
    std::vector<Block> blocks(count);
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
    for (size_t b = 0; b < count; ++b)
      for (size_t edges = random() % 3; edges > 0; --edges) {
        blocks[b].next.push_back(random() % count);
        reaches[b][blocks[b].next.back()] = true;
      }
    for (size_t by = 0; by < count; ++by)
      for (size_t from = 0; from < count; ++from)
        for (size_t to = 0; to < count; ++to)
          if (reaches[from][by] && reaches[by][to]) reaches[from][to] = true;
    std::vector<std::vector<size_t>> outermost;
    std::vector<bool> known(count);
    for (size_t b = 0; b < count; ++b) {
      if (known[b] || !reaches[b][b]) continue;
      outermost.emplace_back();
      for (size_t other = b; other < count; ++other)
        if (reaches[b][other] && reaches[other][b]) outermost.back().push_back(other), known[other] = true;
    }
    const std::vector<Loop> loops = loops_of(blocks);
    ASSERT_GE(loops.size(), outermost.size());
    std::vector<std::vector<size_t>> found;
    for (size_t n = 0; n < outermost.size(); ++n) found.push_back(loops[n].blocks);
    ASSERT_THAT(found, ::testing::UnorderedElementsAreArray(outermost)) << round;
    // The others are within one of these, which is not the innermost then.
    for (size_t n = 0; n < loops.size(); ++n) {
      const auto holds = [&](const Loop& other) {
        return other.blocks.size() < loops[n].blocks.size() &&
               std::includes(loops[n].blocks.begin(), loops[n].blocks.end(), other.blocks.begin(), other.blocks.end());
      };
      ASSERT_EQ(loops[n].innermost, std::none_of(loops.begin(), loops.end(), holds)) << round << ", loop " << n;
    }
  }
}

}  // namespace
}  // namespace rung::amdgpu

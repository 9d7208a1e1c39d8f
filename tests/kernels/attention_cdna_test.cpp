// What CDNA's attention row takes, and how it cuts rows and keys into blocks.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "kernels/gpu/attention/attention_cdna_arguments.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/machines.hpp"
#include "support/tunables.hpp"

namespace rung::gpu {
namespace {

using testing::cdna;
using ::testing::ElementsAre;

const Kernel& attention_row() {
  for (const Kernel* each : all_kernels())
    if (each->name == "attention_cdna") return *each;
  throw std::logic_error("no row attention_cdna");
}

struct CdnaHeads {
  int64_t queries, heads, groups, width, keys, batch = 1;
};
Problem problem(const CdnaHeads& h, DType type = DType::bf16) {
  const auto dense = [&](Shape shape) { return Operand{type, shape, contiguous_strides(shape)}; };
  const Operand keys = dense({h.batch, h.keys, h.groups, h.width});
  const Operand queries = dense({h.batch, h.queries, h.heads, h.width});
  return {Attention{}, {queries, keys, keys}, queries};
}
std::string refusal(const Problem& problem, const Machine& machine = cdna()) {
  return attention_row().supports(problem, machine).reason;
}
std::vector<int64_t> values(const Problem& problem, std::string_view name) {
  return test::values_of(attention_row().tunables_for(problem, cdna()), name);
}

TEST(AttentionCdna, TakesHeadsOf256In64KilobytesOfSharedMemory) {
  for (DType type : {DType::bf16, DType::f16})
    for (int64_t width : {8, 72, 128, 256}) EXPECT_EQ(refusal(problem({51, 8, 1, width, 867}, type)), "") << width;
  EXPECT_EQ(refusal(problem({51, 8, 1, 12, 867})), "") << "in fours";
  EXPECT_EQ(refusal(problem({51, 8, 1, 12, 867}, DType::f32)), "only bf16 and f16");
  EXPECT_EQ(refusal(problem({51, 8, 1, 264, 867})), "heads wider than 256");
  EXPECT_EQ(refusal(problem({51, 8, 1, 36, 867})), "the heads' width is not a multiple of 8");
  EXPECT_EQ(refusal(problem({51, 8, 1, 256, 867}, DType::f32)), "only bf16 and f16");
  EXPECT_EQ(refusal(problem({51, 8, 1, 256, 0})), "no keys");
  EXPECT_EQ(refusal(problem({51, 8, 1, 256, 867}), testing::hopper()), "made for CDNA");
}

TEST(AttentionCdna, FitsTheSharedMemory) {
  Machine little = cdna();
  little.gpu.shared_bytes_per_block = 32 * 1024;
  EXPECT_EQ(refusal(problem({51, 8, 1, 256, 867}), little),
            "no kernel of this type and width for blocks with 32768 bytes of shared memory");
  EXPECT_EQ(refusal(problem({51, 8, 1, 64, 867}), little), "");
}

// Rows of a slice lie where lanes that read a column's keys or write eighth columns meet no bank twice.
TEST(AttentionCdna, SpreadsSlicesOverTheBanks) {
  const auto units = [](auto column_of) {  // of 16 bytes, of which the banks hold eight
    std::set<uint32_t> seen;
    for (uint32_t lane = 0; lane < 8; ++lane) {
      EXPECT_EQ(CdnaAttentionConfig::slice_offset(column_of(lane)) % 16, 0u);
      seen.insert(CdnaAttentionConfig::slice_offset(column_of(lane)) / 16 % 8);
    }
    return seen.size();
  };
  for (uint32_t first : {0u, 8u, 16u, 120u}) EXPECT_EQ(units([&](uint32_t lane) { return first + lane; }), 8u) << first;
  for (uint32_t first : {0u, 3u, 64u}) EXPECT_EQ(units([&](uint32_t lane) { return first + 8 * lane; }), 8u) << first;
}

using Block = Tunable::Values;  // rows, waves
std::vector<Block> blocks(const Problem& problem) {
  return test::joint_values(attention_row().tunables_for(problem, cdna()), "rows");
}

// Blocks of 32 rows of a prefix, and of 16 for few queries, by four waves that share the keys.
TEST(AttentionCdna, CutsRowsIntoBlocksForTheWholeMachine) {
  EXPECT_THAT(blocks(problem({816, 8, 1, 256, 816})), ElementsAre(Block{32, 4}, Block{16, 4}));
  EXPECT_THAT(blocks(problem({51, 8, 1, 256, 867})), ElementsAre(Block{16, 4}, Block{32, 4}));
  EXPECT_EQ(blocks(problem({256, 16, 16, 72, 256, 3})).size(), 3u);
}

TEST(AttentionCdna, SplitsManyKeysOfFewQueries) {
  EXPECT_EQ(values(problem({51, 8, 1, 256, 867}), "splits").front(), 1);
  EXPECT_THAT(values(problem({51, 8, 1, 256, 4096}), "splits"), ElementsAre(4, 1, 2, 8, 16));
  EXPECT_EQ(values(problem({1, 1, 1, 256, 100000}), "splits").front(), 16) << "the most that there are";
  EXPECT_EQ(values(problem({1216, 8, 1, 256, 16384}), "splits").front(), 1) << "a block for each compute unit";
  EXPECT_THAT(values(problem({51, 8, 1, 256, 100}), "splits"), ElementsAre(1)) << "each team has a group of keys";
}

// Of each split and row its sums and two statistics; of as many splits as have keys.
TEST(AttentionCdna, KeepsWhatSplitsHaveInScratch) {
  Problem asked = problem({51, 8, 1, 256, 867});
  EXPECT_EQ(attention_row().scratch_for(asked, cdna()), 0u);
  asked.params["splits"] = 4;
  EXPECT_EQ(attention_row().scratch_for(asked, cdna()), 4u * 408 * 258 * 4);
  asked.params["splits"] = 16;  // 28 groups of keys, two to a split
  EXPECT_EQ(attention_row().scratch_for(asked, cdna()), 14u * 408 * 258 * 4);
}

}  // namespace
}  // namespace rung::gpu

// Rows and block shapes follow the GPU that they are asked about: its lanes, multiprocessors and shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "kernels/gpu/attention/attention_mma.hpp"
#include "kernels/gpu/attention/attention_portable.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_fma_arguments.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "linear_case.hpp"
#include "support/machines.hpp"
#include "support/tunables.hpp"

namespace rung::gpu {
namespace {

using testing::cdna;
using ::testing::ElementsAre;
using testing::hopper;
using testing::lesser_hopper;

const Kernel& row(std::string_view name) {
  for (const Kernel* each : all_kernels())
    if (each->name == name) return *each;
  throw std::logic_error("no row " + std::string(name));
}

// A Hopper but for what a test changes.
Machine with_multiprocessors(int count) {
  Machine machine = hopper();
  machine.gpu.multiprocessors = count;
  return machine;
}
Machine with_shared_bytes(size_t bytes) {
  Machine machine = hopper();
  machine.gpu.shared_bytes_per_block = bytes;
  return machine;
}

Problem f32_linear(int64_t n, int64_t k) { return cpu::problem_of({.m = 8, .n = n, .k = k}); }

struct Heads {
  int64_t queries, heads, groups, width, keys;
};
Problem attention(const Heads& h, DType type = DType::bf16) {
  const auto dense = [&](Shape shape) { return Operand{type, shape, contiguous_strides(shape)}; };
  const Operand keys = dense({1, h.keys, h.groups, h.width}), queries = dense({1, h.queries, h.heads, h.width});
  return {Attention{}, {queries, keys, keys}, queries};
}

// A row's values of a tunable, the default first.
std::vector<int64_t> values(std::string_view name, const Problem& problem, const Machine& machine, size_t tunable = 0) {
  const auto tunables = row(name).tunables_for(problem, machine);
  return test::values_of(tunables, tunables[tunable].names.front());
}
// Rows of a lane, warps along the columns, blocks that share K, apart.
Tunable::Values first_tile(const Problem& problem, const Machine& machine) {
  return row("linear_fma").tunables_for(problem, machine)[0].values[0];
}
std::string refusal(std::string_view name, const Problem& problem, const Machine& machine) {
  return row(name).supports(problem, machine).reason;
}

TEST(GpuMachines, ShareAMultiprocessorByTwos) {
  EXPECT_EQ(shared_bytes_of_two(hopper().gpu), 113u * 1024);
  EXPECT_EQ(shared_bytes_apart(hopper().gpu), 116u * 1024);
  EXPECT_EQ(shared_bytes_of_two(lesser_hopper().gpu), 49u * 1024);
  EXPECT_EQ(shared_bytes_of_two(GpuInfo{}), 0u);
  EXPECT_EQ(blocks_at_once(hopper().gpu), 128);
  EXPECT_EQ(blocks_at_once(lesser_hopper().gpu), 112);
}

TEST(GpuMachines, GiveEveryFmaThreadPartOfItsTile) {
  for (uint32_t lanes : {32u, 64u})
    for (uint32_t rows : {1u, 7u, 13u})
      for (uint32_t side : {1u, 2u}) {
        const FmaTile tile{rows, side};
        EXPECT_EQ(tile.tokens() * tile.columns(lanes) * tile.parts(lanes), tile.threads() * rows * 8)
            << rows << " " << side;
      }
}

TEST(GpuMachines, FmaTilesFollowLanesMultiprocessorsAndSharedMemory) {
  const Problem one_wave = f32_linear(132 * 64, 1024);  // of tiles of 8 tokens by 64 columns
  EXPECT_THAT(first_tile(one_wave, hopper()), ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(first_tile(one_wave, with_multiprocessors(264)), ElementsAre(1, 1, 1, 0));  // by 32 columns
  Machine twice_the_lanes = hopper();
  twice_the_lanes.gpu.lanes = 64;
  EXPECT_THAT(first_tile(one_wave, twice_the_lanes), ElementsAre(1, 1, 1, 0));  // by 64 columns
  EXPECT_EQ(refusal("linear_fma", one_wave, with_shared_bytes(16 * 1024)),
            "no tile shares 1024 columns of x and fits 7680 bytes of shared memory");
  EXPECT_EQ(refusal("linear_fma", one_wave, Machine(cpu::CpuInfo{})), "no GPU");
  EXPECT_EQ(refusal("linear_fma_sm90", one_wave, cdna()), "made for compute capability 9.0");
}

TEST(GpuMachines, BlocksOfAttentionGrowWithTheWarp) {
  EXPECT_EQ((MmaAttentionConfig{DType::bf16, DType::bf16, 64, 2, 2}.threads(32)), 128);
  EXPECT_EQ((MmaAttentionConfig{DType::bf16, DType::bf16, 64, 2, 2}.threads(64)), 256);
}

// A wave of 64 is two teams of 32 lanes, or four of 16 where a head is so wide that 32 keys of it take too much.
TEST(GpuMachines, ShareTheRowsOfABlockAmongTeams) {
  const PortableAttentionConfig narrow{DType::f32, DType::f32, 128}, wide{DType::f32, DType::f32, 256};
  EXPECT_EQ(narrow.team(32), 32);
  EXPECT_EQ(wide.team(32), 32);
  EXPECT_EQ(narrow.team(64), 32);
  EXPECT_EQ(wide.team(64), 16);
  for (int lanes : {32, 64})
    for (const auto& config : {narrow, wide})
      EXPECT_EQ(config.rows_of_team(lanes) * config.threads(lanes) / config.team(lanes), config.kRows);
  EXPECT_EQ(narrow.shared_bytes(64), narrow.shared_bytes(32));
  EXPECT_EQ(wide.shared_bytes(32), 2u * 32 * 260 * 4 + 16 * 256 * 4);
  EXPECT_EQ(wide.shared_bytes(64), 2u * 16 * 260 * 4 + 16 * 256 * 4);
}

TEST(GpuMachines, AttentionByFragmentsFillsThreeQuarters) {
  const auto tiles = [](int64_t count) {
    return attention({.queries = 64 * count, .heads = 12, .groups = 12, .width = 64, .keys = 64});
  };
  EXPECT_THAT(values("attention_mma", tiles(8), hopper()), ElementsAre(1, 2, 4));  // 96 blocks
  EXPECT_THAT(values("attention_mma", tiles(7), hopper()), ElementsAre(2, 1, 4));
  EXPECT_THAT(values("attention_mma", tiles(7), with_multiprocessors(114)), ElementsAre(1, 2, 4));
}

TEST(GpuMachines, AttentionByFragmentsFitsTheSharedMemory) {
  const Problem wide = attention({.queries = 64, .heads = 1, .groups = 1, .width = 256, .keys = 64});
  EXPECT_EQ(values("attention_mma", wide, hopper()).size(), 3u);
  EXPECT_THAT(values("attention_mma", wide, lesser_hopper()), ElementsAre(1));
  EXPECT_EQ(refusal("attention_mma", wide, cdna()),
            "no kernel of this type and width for blocks with 65536 bytes of shared memory");
  EXPECT_TRUE(row("attention_mma").supports(attention({64, 1, 1, 32, 64}), cdna()));
}

TEST(GpuMachines, PortableAttentionFitsTheSharedMemory) {
  const Problem wide = attention({.queries = 64, .heads = 1, .groups = 1, .width = 256, .keys = 64}, DType::f32);
  EXPECT_TRUE(row("attention_portable").supports(wide, lesser_hopper()));
  EXPECT_TRUE(row("attention_portable").supports(wide, cdna()));
  EXPECT_EQ(refusal("attention_portable", wide, with_shared_bytes(64 * 1024)),
            "a block takes 82944 bytes of shared memory, and may have 65536");
}

TEST(GpuMachines, AttentionOfSpansHasWiderAndFewerBlocks) {
  const auto causal = [](const Heads& heads) {
    Problem asked = attention(heads);
    asked.op = Attention{.span = {.after = 0}};
    return asked;
  };
  const auto groups_and_splits = [&](const Problem& asked) {
    return std::pair(values("attention_wgmma", asked, hopper())[0], values("attention_wgmma", asked, hopper(), 1)[0]);
  };
  EXPECT_EQ(groups_and_splits(causal({4096, 32, 8, 64, 4096})), std::pair(int64_t{3}, int64_t{1}));
  EXPECT_EQ(groups_and_splits(causal({4096, 32, 8, 128, 4096})), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(groups_and_splits(causal({512, 32, 8, 64, 512})), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(groups_and_splits(causal({128, 32, 8, 128, 128})), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(groups_and_splits(attention({128, 32, 8, 128, 128})), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(groups_and_splits(attention({1024, 8, 1, 256, 1024})), std::pair(int64_t{2}, int64_t{2})) << "64 pairs";
  EXPECT_EQ(values("attention_wgmma", causal({4096, 32, 8, 128, 4096}), hopper()).size(), 2u) << "no third";
}

TEST(GpuMachines, AttentionByWarpgroupsFollowsTheMultiprocessors) {
  const Problem asked = attention({.queries = 512, .heads = 10, .groups = 10, .width = 128, .keys = 512});
  EXPECT_EQ(values("attention_wgmma", asked, hopper())[0], 1);     // 40 blocks of two are too few
  EXPECT_EQ(values("attention_wgmma", asked, hopper(), 1)[0], 1);  // of 80 blocks
  EXPECT_EQ(values("attention_wgmma", asked, with_multiprocessors(114))[0], 2);
  EXPECT_EQ(values("attention_wgmma", asked, with_multiprocessors(114), 1)[0], 2);  // of 40
  EXPECT_TRUE(row("attention_wgmma").supports(asked, lesser_hopper()));
  const Problem wide = attention({.queries = 512, .heads = 7, .groups = 7, .width = 256, .keys = 512});
  EXPECT_TRUE(row("attention_wgmma").supports(wide, hopper()));
  EXPECT_THAT(refusal("attention_wgmma", wide, lesser_hopper()), ::testing::HasSubstr("may have 101376"));
}

TEST(GpuMachines, LimitSplitAttentionToRowsThatRunTogether) {
  const Problem asked = attention({.queries = 64, .heads = 8, .groups = 1, .width = 256, .keys = 512});
  EXPECT_TRUE(row("attention_split_kv").supports(asked, hopper()));
  EXPECT_EQ(refusal("attention_split_kv", asked, with_multiprocessors(114)), "more than 448 rows");
  EXPECT_THAT(values("attention_split_kv", asked, hopper()), ElementsAre(32, 24, 16));
  EXPECT_EQ(refusal("attention_split_kv", asked, with_shared_bytes(99 * 1024)),
            "no kernel of this type for blocks with 101376 bytes of shared memory");
}

}  // namespace
}  // namespace rung::gpu

// Rows and block shapes on GPUs whose warps have 32 lanes, and on those whose warps have 64.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/gpu/attention/attention_mma.hpp"
#include "kernels/gpu/attention/attention_portable.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_fma_arguments.hpp"
#include "linear_case.hpp"

namespace rung::gpu {
namespace {

Machine machine_of(int lanes) {
  GpuInfo card;
  card.architecture = lanes == 32 ? 90 : 0x942;
  card.lanes = lanes;
  return Machine(cpu::CpuInfo{}, card);
}

TEST(GpuLanes, TheFmaRowIsCutForThirtyTwo) {
  Problem asked = cpu::problem_of({.m = 8, .n = 64, .k = 256});
  asked.inputs[1].constant = true;
  for (const Kernel* row : all_kernels()) {
    if (row->name != "linear_fma") continue;
    EXPECT_TRUE(row->supports(asked, machine_of(32))) << row->supports(asked, machine_of(32)).reason;
    EXPECT_EQ(row->supports(asked, machine_of(64)).reason, "cut for warps of other lanes");
    return;
  }
  FAIL() << "no row linear_fma";
}

TEST(GpuLanes, EveryThreadOfAnFmaBlockHasAPartOfItsTile) {
  for (uint32_t lanes : {32u, 64u})
    for (uint32_t rows : {1u, 7u, 13u})
      for (uint32_t side : {1u, 2u}) {
        const FmaTile tile{rows, side};
        EXPECT_EQ(tile.tokens() * tile.columns(lanes) * tile.parts(lanes), tile.threads() * rows * 8)
            << rows << " " << side;
      }
}

TEST(GpuLanes, BlocksOfAttentionGrowWithTheWarp) {
  EXPECT_EQ((MmaAttentionConfig{DType::bf16, 64, 2, 2}.threads(32)), 128);
  EXPECT_EQ((MmaAttentionConfig{DType::bf16, 64, 2, 2}.threads(64)), 256);
  const PortableAttentionConfig portable{DType::f32, 64};
  EXPECT_EQ(portable.shared_bytes(64) - portable.shared_bytes(32), 2u * 32 * (64 + 4) * 4);
}

}  // namespace
}  // namespace rung::gpu

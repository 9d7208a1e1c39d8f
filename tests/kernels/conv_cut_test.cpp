// How the rows of convolutions cut windows and results into blocks.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/machines.hpp"
#include "support/problem_in.hpp"

namespace rung::gpu {
namespace {

// The settings {rows, columns, parts} that a row wants tried on a convolution of bf16, the default first.
std::vector<Tunable::Values> settings_of(std::string_view name, const std::string& operands, const Machine& machine) {
  const auto graph = parse_graph("y = conv(" + operands + ")");
  const Problem problem = test::problem_in(*graph, graph->outputs()[0].node);
  for (const Kernel* row : all_kernels())
    if (row->name == name && row->supports(problem, machine)) return row->tunables_for(problem, machine)[0].values;
  ADD_FAILURE() << name << " does not take " << operands;
  return {{0, 0, 0}};
}

constexpr const char* kLateLayer = "x:bf16[1,14,14,256], w:bf16[256,3,3,256], before=[1,1], after=[1,1]";
constexpr const char* kFewResults = "x:bf16[1,16,1024], w:bf16[1024,5,1024], before=[2], after=[2]";
constexpr const char* kManyResults = "x:bf16[1,256,256,64], w:bf16[64,3,3,64], before=[1,1], after=[1,1]";

TEST(ConvCuts, OfFewResultsShareWindows) {
  for (const char* layer : {kLateLayer, kFewResults}) {
    EXPECT_GT(settings_of("conv_tiles_sm90", layer, testing::hopper())[0][2], 1) << layer;
    EXPECT_GT(settings_of("conv_tiles", layer, testing::cdna())[0][2], 1) << layer;
  }
}

TEST(ConvCuts, OfManyResultsAreWhole) {
  EXPECT_EQ(settings_of("conv_tiles_sm90", kManyResults, testing::hopper())[0][2], 1);
  EXPECT_EQ(settings_of("conv_tiles", kManyResults, testing::cdna())[0][2], 1);
}

TEST(ConvCuts, MakeNoTileWiderThanItsResults) {
  EXPECT_EQ(settings_of("conv_tiles_sm90", kFewResults, testing::hopper())[0][0], 16);
}

// 224 blocks of 32 by 32 in clusters of 4, not 256 of 64 by 32 in clusters of 8, which do not all find room at once.
TEST(ConvCuts, GiveBlocksOfLargeClustersAMultiprocessorEach) {
  EXPECT_EQ(settings_of("conv_tiles_sm90", kLateLayer, testing::hopper())[0], (Tunable::Values{32, 32, 4}));
}

TEST(ConvCuts, MakeNoClusterLargerThanAnyMachineTakes) {
  for (const auto& setting : settings_of("conv_tiles_sm90", kFewResults, testing::hopper())) EXPECT_LE(setting[2], 8);
}

TEST(ConvCuts, LeaveRowsThatAreNoVectorsWhole) {
  const char* odd = "x:bf16[1,14,14,256], w:bf16[44,3,3,256], before=[1,1], after=[1,1]";
  for (const auto& setting : settings_of("conv_tiles", odd, testing::hopper())) EXPECT_EQ(setting[2], 1);
}

}  // namespace
}  // namespace rung::gpu

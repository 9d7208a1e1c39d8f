// What the skinny linear row takes, and how it cuts weights into blocks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_skinny.hpp"

#include <gtest/gtest.h>

#include "kernels/gpu/attention/attention_split_kv.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "linear_case.hpp"
#include "support/machines.hpp"

namespace rung::gpu {
namespace {

using testing::hopper;
using testing::lesser_hopper;

const Kernel& row() {
  for (const Kernel* each : all_kernels())
    if (each->name == "linear_skinny_sm90") return *each;
  throw std::logic_error("no row linear_skinny_sm90");
}

// With what a norm of its result needs, a residual, or its own rows normed.
Problem feeding(Problem plain) {
  auto& op = std::get<Linear>(plain.op);
  op.slots.put(plain.inputs, LinearSlot::norm_weight,
               Operand{DType::f32, Shape{plain.output.shape.back()}, Strides{1}});
  op.epilogue.norm_run = gpu::kNormRun;
  op.out = plain.output.dtype = DType::f32;
  return plain;
}
Problem adding(Problem plain, DType residual) {
  const Shape& shape = plain.output.shape;
  std::get<Linear>(plain.op).slots.put(plain.inputs, LinearSlot::residual,
                                       Operand{residual, shape, contiguous_strides(shape)});
  return plain;
}
Problem normed(Problem plain) {
  const Shape squares{plain.output.rows(), plain.inputs[0].shape.back() / kNormRun};
  std::get<Linear>(plain.op).slots.put(plain.inputs, LinearSlot::squares,
                                       Operand{DType::f32, squares, contiguous_strides(squares)});
  return plain;
}

SkinnyPlan plan_of(const Problem& problem, const Machine& machine = hopper()) { return {problem, machine.gpu}; }
std::vector<SkinnyConfig> tiles_of(const Problem& problem) { return skinny_tiles(problem, hopper().gpu); }

Params params_of(const SkinnyConfig& tile) { return Tunable(kSkinnyParameters).params(parameters_of(tile)); }

TEST(LinearSkinny, FillsTheDeviceWithAboutOneBlockEach) {
  EXPECT_EQ(plan_of(layer(50, 2560, 1024)).blocks(), 128u);
  EXPECT_EQ(plan_of(layer(50, 1024, 2048)).blocks(), 128u);
  EXPECT_EQ(plan_of(layer(50, 1024, 4096)).blocks(), 128u);
  EXPECT_EQ(plan_of(layer(50, 4096, 1024, true)).blocks(), 128u);
}

// So that it fetches its weights while the attention is at work.
TEST(LinearSkinny, HasRoomBesideTheAttentionInFront) {
  const SkinnyPlan output = plan_of(adding(feeding(layer(51, 1024, 2048)), DType::f32));
  const uint32_t attention = SplitKvConfig{DType::bf16, 32, 8}.shared_bytes();
  EXPECT_LE(output.shared_bytes, shared_bytes_beside(hopper().gpu, attention));
}

TEST(LinearSkinny, CutsManyTokensIntoEqualTiles) {
  const SkinnyPlan wide = plan_of(layer(128, 3072, 768)), deep = plan_of(layer(128, 768, 3072));
  EXPECT_EQ(wide.token_tiles * wide.blocks(), 192u);
  EXPECT_EQ(wide.tile.split, 2u);
  EXPECT_FALSE(wide.alone) << "two blocks share a multiprocessor";
  EXPECT_EQ(deep.token_tiles * deep.blocks(), 96u);
  EXPECT_EQ(deep.tile.split, 4u);
  EXPECT_TRUE(deep.alone);
  const SkinnyPlan uneven = plan_of(layer(197, 768, 768));
  EXPECT_EQ(uneven.token_tiles, 4u);
  EXPECT_EQ(uneven.shared.tokens, 56u);
  EXPECT_EQ(plan_of(layer(64, 768, 768)).token_tiles, 1u);
  EXPECT_FALSE(plan_of(layer(64, 768, 3072)).alone);
}

TEST(LinearSkinny, TakesTheTileAndRingAskedFor) {
  Problem asked = layer(50, 4096, 1024, true);
  asked.params = {{"rows", 64}, {"split", 2}, {"ring", 48}};
  const SkinnyPlan plan = plan_of(asked);
  EXPECT_EQ(plan.tile.rows, 64u);
  EXPECT_EQ(plan.tile.split, 2u);
  EXPECT_EQ(plan.box_rows, 32u);
  EXPECT_EQ(plan.blocks(), 256u);
  EXPECT_EQ(plan.shared.tokens, 56u);
  EXPECT_EQ(plan.shared.w_stages, 6u);
  EXPECT_EQ(plan.function, "linear_skinny_bf16_64_2_gated");
}

TEST(LinearSkinny, RunsTheKernelOfItsTileAndEnding) {
  const auto function = [](const Problem& each) { return plan_of(each).function; };
  const Problem plain = layer(51, 1024, 2048), gated = layer(51, 4096, 1024, true);
  EXPECT_EQ(function(plain), "linear_skinny_bf16_64_8_any");
  EXPECT_EQ(function(gated), "linear_skinny_bf16_64_1_gated");
  EXPECT_EQ(function(normed(gated)), "linear_skinny_bf16_64_1_gated");
  Problem wide = gated;
  wide.output.dtype = DType::f32;
  EXPECT_EQ(function(wide), "linear_skinny_bf16_64_1_gated_any");
  Problem f16 = gated;
  for (Operand* each : {&f16.inputs[0], &f16.inputs[1], &f16.output}) each->dtype = DType::f16;
  EXPECT_EQ(function(f16), "linear_skinny_f16_64_1_gated_any");

  Problem with_angles = rotated(layer(51, 2560, 1024), 9, 256);
  EXPECT_EQ(function(with_angles), "linear_skinny_bf16_64_4_rotated_any");
  for (size_t angles : {2, 3}) with_angles.inputs[angles].dtype = DType::f32;
  EXPECT_EQ(function(with_angles), "linear_skinny_bf16_64_4_rotated");

  EXPECT_EQ(function(feeding(plain)), "linear_skinny_bf16_64_8_norm_any");
  EXPECT_EQ(function(feeding(adding(plain, DType::bf16))), "linear_skinny_bf16_64_8_norm_any");
  Problem sum = feeding(adding(plain, DType::f32));
  EXPECT_EQ(function(sum), "linear_skinny_bf16_64_8_norm");
  EXPECT_EQ(function(normed(sum)), "linear_skinny_bf16_64_8_norm_any");
  std::get<Linear>(sum.op).epilogue.activation = Activation::silu;
  EXPECT_EQ(function(sum), "linear_skinny_bf16_64_8_norm_any");
}

TEST(LinearSkinny, WaitsBetweenWeightsAsLongAsAsked) {
  Problem asked = layer(51, 1024, 2048);
  EXPECT_EQ(plan_of(asked).throttle_ns, 150u);
  asked.params = {{"throttle", 0}};
  EXPECT_EQ(plan_of(asked).throttle_ns, 0u);
}

TEST(LinearSkinny, SharesKOnlyWhereBlocksGetEnough) {
  EXPECT_EQ(tiles_of(layer(50, 1024, 2048)).front().split, 8u);
  for (const SkinnyConfig& tile : tiles_of(layer(50, 1024, 1024))) EXPECT_LE(tile.split, 4u);
  for (const SkinnyConfig& tile : tiles_of(layer(1, 1024, 32))) EXPECT_EQ(tile.split, 1u);
  EXPECT_FALSE(tiles_of(layer(1, 4, 8)).empty());
}

TEST(LinearSkinny, CutsHeadsIntoTilesOfBothTheirHalves) {
  const Problem turned = rotated(layer(50, 2560, 1024), 9, 256);
  for (const SkinnyConfig& tile : tiles_of(turned)) {
    Problem asked = turned;
    asked.params = params_of(tile);
    const SkinnyPlan plan = plan_of(asked);
    EXPECT_EQ(plan.box_rows * 2, tile.rows);
    EXPECT_EQ(128 % plan.box_rows, 0u) << "of a head's lower half";
    EXPECT_EQ(plan.tiles * tile.rows, 2560u);
  }
  for (const SkinnyConfig& tile : tiles_of(rotated(layer(50, 96, 1024), 2, 48))) EXPECT_EQ(tile.rows, 16u);
}

TEST(LinearSkinny, GivesABlockWholeRunsOfSquares) {
  const auto tiles = tiles_of(feeding(layer(51, 1024, 2048)));
  EXPECT_FALSE(tiles.empty());
  for (const SkinnyConfig& tile : tiles) EXPECT_EQ(tile.rows % kNormRun, 0);
}

TEST(LinearSkinny, LeavesRoomForASecondBlock) {
  for (Problem each : {layer(64, 1024, 4096), layer(50, 4096, 1024, true), layer(8, 2560, 1024)})
    for (const SkinnyConfig& tile : tiles_of(each))
      for (int64_t ring : {16, 64, 200}) {
        each.params = params_of(tile);
        each.params["ring"] = ring;
        const SkinnyPlan plan = plan_of(each);
        EXPECT_LE(plan.shared.bytes(), 113u * 1024);
        EXPECT_GE(plan.shared.x_stages, 2u);
        EXPECT_GE(plan.shared.w_stages, 2u);
        EXPECT_EQ(plan.tile, tile);
      }
}

TEST(LinearSkinny, IsCutForTheMachine) {
  Problem asked = layer(51, 1024, 4096);
  asked.params = {{"alone", 1}};
  EXPECT_EQ(plan_of(asked).blocks(), 128u);  // of 132 multiprocessors
  EXPECT_EQ(plan_of(asked).shared_bytes, 116u * 1024);

  const Problem wide = layer(51, 2240, 4096);
  EXPECT_EQ(plan_of(wide).blocks(), 140u);                   // 35 tiles of 64 rows
  EXPECT_EQ(plan_of(wide, lesser_hopper()).blocks(), 112u);  // 56 of 40, of 114 multiprocessors
  const SkinnyPlan lesser = plan_of(asked, lesser_hopper());
  EXPECT_LE(lesser.shared.bytes(), 49u * 1024);
  EXPECT_EQ(lesser.shared_bytes, 52u * 1024);
  EXPECT_LT(lesser.shared.w_stages, plan_of(asked).shared.w_stages);
}

TEST(LinearSkinny, SaysWhyItRefuses) {
  const auto reason = [](const Problem& each, const Machine& machine) { return row().supports(each, machine).reason; };
  EXPECT_TRUE(row().supports(layer(50, 1024, 2048), hopper()));
  EXPECT_TRUE(row().supports(layer(1, 4, 8), hopper()));
  EXPECT_EQ(reason(layer(321, 64, 2048), hopper()), "321 rows, wanted 1 to 320");
  EXPECT_EQ(reason(layer(257, 3072, 768), hopper()), "more tiles than run at once");
  EXPECT_EQ(reason(normed(layer(65, 1024, 2048)), hopper()), "a norm and more than 64 rows");
  EXPECT_EQ(reason(layer(50, 1024, 2050), hopper()), "rows of x or w are not a multiple of 16 bytes");
  EXPECT_EQ(reason(layer(50, 1023, 2048), hopper()), "n is not a multiple of 4");
  EXPECT_EQ(reason(layer(50, 1024, 2048), Machine(cpu::CpuInfo{})), "made for compute capability 9.0");
  EXPECT_TRUE(row().supports(rotated(layer(50, 2560, 1024), 9, 256), hopper()));
  EXPECT_EQ(reason(rotated(layer(50, 2560, 1024), 9, 200), hopper()),
            "heads of 200 columns in 2560, wanted a multiple of 16 that divides them");
  EXPECT_TRUE(row().supports(feeding(layer(51, 1024, 2048)), hopper()));
  EXPECT_EQ(reason(feeding(layer(51, 96, 2048)), hopper()),
            "the sum that a norm follows has 96 columns, wanted a multiple of 128");
  EXPECT_TRUE(row().supports(normed(layer(51, 4096, 1024, true)), hopper()));
  EXPECT_EQ(reason(normed(layer(51, 1024, 96)), hopper()),
            "rows of squares are of 96 columns or 3 elements apart, wanted multiples of 128 and 4");
  Problem narrow = normed(layer(51, 1024, 1024));
  narrow.inputs.back().dtype = DType::bf16;
  EXPECT_EQ(reason(narrow, hopper()), "squares are not f32");
  Problem longer = feeding(layer(51, 1024, 2048));
  std::get<Linear>(longer.op).epilogue.norm_run = 64;
  EXPECT_EQ(reason(longer, hopper()), "squares of 64 columns together, wanted 32");
  longer = normed(layer(51, 1024, 1024));
  longer.inputs.back() = Operand{DType::f32, {51, 16}, {16, 1}};
  EXPECT_EQ(reason(longer, hopper()), "squares of 64 columns together, wanted 32");
  Problem rounded = feeding(layer(51, 1024, 2048));
  std::get<Linear>(rounded.op).out = rounded.output.dtype = DType::bf16;
  EXPECT_EQ(reason(rounded, hopper()), "the sum that a norm follows is not f32");
  Problem variable = layer(50, 1024, 2048);
  variable.inputs[1].constant = false;
  EXPECT_EQ(reason(variable, hopper()), "w is not constant, so it cannot be fetched ahead");
  Problem f32 = layer(50, 1024, 2048);
  f32.inputs[0].dtype = f32.inputs[1].dtype = DType::f32;
  EXPECT_EQ(reason(f32, hopper()), "x and w are not both bf16, both i8, both f8e4m3fn or both f16");
}

}  // namespace
}  // namespace rung::gpu

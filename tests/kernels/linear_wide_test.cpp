// What the wide linear row takes, and how it cuts weights and tokens into tiles.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_wide.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

#include "kernels/gpu/kernel.hpp"
#include "linear_case.hpp"
#include "support/machines.hpp"

namespace rung::gpu {
namespace {

using testing::hopper;
using testing::lesser_hopper;

const Kernel& wide_row() {
  for (const Kernel* each : all_kernels())
    if (each->name == "linear_wide_sm90") return *each;
  throw std::logic_error("no row linear_wide_sm90");
}

WidePlan wide_plan_of(const Problem& problem, const Machine& machine = hopper()) { return {problem, machine.gpu}; }
std::vector<WideConfig> wide_tiles_of(const Problem& problem, const Machine& machine = hopper()) {
  return wide_tiles(problem, machine.gpu);
}

Params params_of(const WideConfig& tile) { return Tunable(kWideParameters).params(parameters_of(tile)); }

std::vector<Problem> problems() {
  return {layer(816, 16384, 2048, true), layer(560, 4096, 1024, true), layer(816, 2048, 16384),
          layer(768, 1152, 4304),        layer(768, 4304, 1152),       layer(65, 8, 8)};
}

TEST(LinearWide, HasTilesThatCoverResultsAndFitBlocks) {
  for (Problem asked : problems()) {
    const LinearShape shape(asked);
    for (const WideConfig& tile : wide_tiles_of(asked)) {
      asked.params = params_of(tile);
      const WidePlan plan = wide_plan_of(asked);
      EXPECT_EQ(plan.tile, tile);
      EXPECT_EQ(plan.tile.gated(), asked.as<Linear>().epilogue.gated);
      EXPECT_GE(int64_t{plan.token_tiles} * tile.tokens, shape.m);
      EXPECT_GE(int64_t{plan.tiles} / plan.token_tiles * tile.columns(), shape.n);
      EXPECT_LE(tile.shared_bytes(plan.stages), 227 * 1024);
      EXPECT_GE(plan.stages, 2);
      EXPECT_LE(plan.stages, kWideMaxStages);
    }
  }
}

TEST(LinearWide, VisitsEachTileOnceBandByBand) {
  for (const auto& [token_tiles, row_tiles, band] : {std::array{32, 5, 16}, {31, 112, 11}, {6, 64, 6}, {1, 1, 1}}) {
    const WideOrder order(token_tiles, row_tiles, band);
    std::set<std::pair<int32_t, int32_t>> places;
    int32_t last_band = 0, last_row = 0;
    for (int32_t tile = 0; tile < token_tiles * row_tiles; ++tile) {
      const auto [row, token] = order.of(tile);
      ASSERT_TRUE(row >= 0 && row < row_tiles && token >= 0 && token < token_tiles) << tile;
      places.emplace(row, token);
      EXPECT_GE(token / band, last_band);
      if (token / band == last_band) EXPECT_GE(row, last_row);
      last_band = token / band, last_row = row;
    }
    EXPECT_EQ(places.size(), static_cast<size_t>(token_tiles * row_tiles));
  }
}

TEST(LinearWide, CutsTokensBeyondTheCacheIntoBands) {
  const auto bands_of = [](Problem problem) {
    problem.params = {{"rows", 256}, {"tokens", 128}, {"split", 1}};
    const WidePlan plan = wide_plan_of(problem);
    return std::pair(plan.token_tiles, plan.band);
  };
  EXPECT_EQ(bands_of(layer(4096, 8192, 2048, true)), std::pair(32, 32));   // 16 MiB of x
  EXPECT_EQ(bands_of(layer(4096, 14336, 4096, true)), std::pair(32, 16));  // 32 MiB; 16 by 8 tiles run at once
  EXPECT_EQ(bands_of(layer(5120, 14336, 4096, true)), std::pair(40, 14));  // three bands, nearly equal
  const WidePlan few = wide_plan_of(layer(816, 2048, 16384));
  EXPECT_EQ(few.band, few.token_tiles);  // 25.5 MiB, but fewer tiles than a band has
}

TEST(LinearWide, TilesDifferAndAreFewEnoughToTry) {
  for (const Problem& each : problems()) {
    const auto tiles = wide_tiles_of(each);
    std::set<std::vector<int64_t>> parameters;
    for (const WideConfig& tile : tiles) parameters.insert(parameters_of(tile));
    EXPECT_EQ(parameters.size(), tiles.size());
    EXPECT_GE(parameters.size(), 1u);
    EXPECT_LE(parameters.size(), 8u);
  }
}

TEST(LinearWide, SplitsTokensBetweenBlocksThatShareK) {
  for (int32_t tokens : {104, 112, 128, 136, 192, 208}) {
    const WideConfig split{DType::bf16, 128, tokens, 2, WideEpilogue::any};
    EXPECT_EQ(split.first_half() % 8, 0);
    EXPECT_GE(2 * split.first_half(), tokens);
    EXPECT_LT(2 * split.first_half(), tokens + 16);
  }
  Problem down = layer(816, 2048, 16384);
  down.params = {{"rows", 128}, {"tokens", 208}, {"split", 2}};
  EXPECT_EQ(wide_plan_of(down).tiles, 64);  // 4 x 16
  EXPECT_EQ(wide_plan_of(down).tile.split, 2);
  Problem shallow = layer(816, 2048, 128);  // two chunks of K
  for (const WideConfig& tile : wide_tiles_of(shallow)) EXPECT_EQ(tile.split, 1);
}

const Params kAlone{{"rows", 128}, {"tokens", 104}, {"split", 1}}, kOfTwo{{"rows", 128}, {"tokens", 208}, {"split", 2}};

// What stands behind the tile in the name of the kernel.
std::string ending(Problem each, const Params& tile, Activation activation = Activation::none) {
  std::get<Linear>(each.op).epilogue.activation = activation;
  each.params = tile;
  const std::string name(wide_plan_of(each).function);
  return name.substr(name.find('_', name.find("_128_") + 5) + 1);
}

Problem with_residual(DType residual, DType out) {
  cpu::LinearCase c{.m = 816, .n = 2048, .k = 2048, .x = DType::bf16, .w = DType::bf16, .out = out, .residual = true};
  c.extra = residual;
  Problem made = cpu::problem_of(c);
  made.inputs[1].constant = true;
  return made;
}

TEST(LinearWide, NamesFunctionsByTypeTileAndEnding) {
  Problem gated = layer(816, 16384, 2048, true);
  gated.params = {{"rows", 256}, {"tokens", 136}, {"split", 1}};
  EXPECT_EQ(wide_plan_of(gated).function, "linear_wide_bf16_256_136_1_gated_gelu");
  std::get<Linear>(gated.op).epilogue.activation = Activation::silu;
  EXPECT_EQ(wide_plan_of(gated).function, "linear_wide_bf16_256_136_1_gated_silu");
  Problem f16 = layer(816, 2048, 2048);
  f16.inputs[0].dtype = f16.inputs[1].dtype = DType::f16;
  f16.params = kAlone;
  EXPECT_EQ(wide_plan_of(f16).function, "linear_wide_f16_128_104_1_rounded");
}

TEST(LinearWide, UsesGeneralKernelsForRareEndingsOnly) {
  const Problem plain = layer(816, 2048, 2048);
  EXPECT_EQ(ending(plain, kAlone), "1_rounded");
  EXPECT_EQ(ending(plain, kAlone, Activation::gelu_tanh), "1_gelu_tanh");
  EXPECT_EQ(ending(plain, kAlone, Activation::gelu), "1_gelu");
  EXPECT_EQ(ending(plain, kAlone, Activation::silu), "1_any");
  EXPECT_EQ(ending(plain, kOfTwo), "2_any");
  EXPECT_EQ(ending(with_residual(DType::f32, DType::f32), kOfTwo), "2_sum");
  EXPECT_EQ(ending(with_residual(DType::bf16, DType::bf16), kAlone), "1_sum_16");
  EXPECT_EQ(ending(with_residual(DType::bf16, DType::bf16), kAlone, Activation::silu), "1_any");
  EXPECT_EQ(ending(with_residual(DType::f32, DType::bf16), kAlone), "1_any");
}

TEST(LinearWide, PrefersTilesThatLeaveLittleIdle) {
  const WidePlan gated = wide_plan_of(layer(816, 16384, 2048, true));
  EXPECT_EQ(gated.tile.tokens, 136);  // 6 x 136 = 816
  EXPECT_EQ(gated.tiles, 768);        // of 6 x 132
}

TEST(LinearWide, IsCutForTheMachine) {
  const Problem asked = layer(816, 2048, 2048);
  Machine many = hopper();
  many.gpu.multiprocessors = 264;
  const auto blocks = [&](const Machine& machine) {
    const WidePlan plan = wide_plan_of(asked, machine);
    return plan.tiles * plan.tile.split;
  };
  EXPECT_LE(blocks(hopper()), 132);
  EXPECT_GT(blocks(many), 132);
  for (const Problem& each : problems())
    for (const WideConfig& tile : wide_tiles_of(each, lesser_hopper())) {
      Problem with = each;
      with.params = params_of(tile);
      const WidePlan plan = wide_plan_of(with, lesser_hopper());
      EXPECT_EQ(plan.tile, tile);
      EXPECT_LE(tile.shared_bytes(plan.stages), 99 * 1024);
      EXPECT_GE(plan.stages, std::min(plan.chunks, tile.least_stages()));
    }
  Machine small = hopper();
  small.gpu.shared_bytes_per_block = 16 * 1024;
  EXPECT_EQ(wide_row().supports(asked, small).reason, "no tile fits 16384 bytes of shared memory");
}

TEST(LinearWide, SaysWhyItRefuses) {
  const auto reason = [](const Problem& each, const Machine& machine) {
    return wide_row().supports(each, machine).reason;
  };
  EXPECT_TRUE(wide_row().supports(layer(816, 1024, 2048), hopper()));
  EXPECT_TRUE(wide_row().supports(layer(65, 8, 8), hopper()));
  EXPECT_TRUE(wide_row().supports(layer(816, 16384, 2048, true), hopper()));
  EXPECT_EQ(reason(layer(64, 1024, 2048), hopper()), "64 rows, wanted at least 65");
  EXPECT_EQ(reason(layer(816, 1024, 2050), hopper()), "rows of x or w are not a multiple of 16 bytes");
  EXPECT_EQ(reason(layer(816, 1020, 2048), hopper()), "n is not a multiple of 8");
  EXPECT_EQ(reason(layer(816, 1024, 2048), Machine(cpu::CpuInfo{})), "made for compute capability 9.0");
  Problem variable = layer(816, 1024, 2048);
  variable.inputs[1].constant = false;
  EXPECT_EQ(reason(variable, hopper()), "w is not constant, so it cannot be fetched ahead");
  Problem f32 = layer(816, 1024, 2048);
  f32.inputs[0].dtype = f32.inputs[1].dtype = DType::f32;
  EXPECT_EQ(reason(f32, hopper()), "x and w are not both bf16, both f16, both f8e4m3fn or both i8");
  Problem other = layer(816, 1024, 2048);
  other.output.dtype = DType::f16;
  EXPECT_EQ(reason(other, hopper()), "the result is neither f32 nor of x's type");
  Problem wide = layer(816, 16384, 2048, true);
  wide.output.dtype = DType::f32;
  EXPECT_EQ(reason(wide, hopper()), "gated, with a result in f32");
  const auto sum = [](DType residual, DType out, bool biased) {
    Problem made = layer(816, 2048, 2048);
    auto& op = std::get<Linear>(made.op);
    if (biased) op.slots.put(made.inputs, LinearSlot::bias, Operand{DType::f32, {2048}, {1}, true});
    op.slots.put(made.inputs, LinearSlot::residual, Operand{residual, made.output.shape, made.output.strides, false});
    made.output.dtype = out;
    return made;
  };
  EXPECT_TRUE(wide_row().supports(sum(DType::f32, DType::f32, false), hopper()));
  EXPECT_TRUE(wide_row().supports(sum(DType::bf16, DType::bf16, true), hopper()));
  for (const Problem& each : {sum(DType::bf16, DType::f32, true), sum(DType::f32, DType::f32, true)})
    EXPECT_EQ(reason(each, hopper()), "a bias, and a residual sum that is not of x's type throughout");
  EXPECT_EQ(reason(sum(DType::f16, DType::bf16, false), hopper()), "the residual is neither f32 nor of x's type");
  Problem normed = layer(816, 2048, 2048);
  std::get<Linear>(normed.op).slots.add(LinearSlot::squares);
  EXPECT_EQ(reason(normed, hopper()), "it takes no norm from its neighbours");
}

}  // namespace
}  // namespace rung::gpu

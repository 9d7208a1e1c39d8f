// Cuts wide linear layers into tiles, by an estimate of what each way would take.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_wide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::gpu {
namespace {

// Those that are compiled; of equal cost, the first is preferred.
constexpr WideTile kTiles[] = {{256, 136, true},     {256, 128, true},     {256, 112, true},     {256, 104, true},
                               {128, 192, false},    {128, 136, false},    {128, 128, false},    {128, 112, false},
                               {128, 104, false},    {128, 64, false},     {256, 112, false},    {256, 104, false},
                               {128, 208, false},    {128, 208, false, 2}, {128, 192, false, 2}, {128, 136, false, 2},
                               {128, 128, false, 2}, {256, 112, false, 2}, {256, 104, false, 2}};
constexpr size_t kMostTiles = 8;              // worth a trial
constexpr int32_t kMostRotated = 128;         // rows of tiles that rotate heads
constexpr int32_t kMultiprocessors = 132;     // of the device in mind
constexpr int32_t kLeastSplit = 4;            // chunks of K that two blocks may share
constexpr int32_t kSharedBytes = 227 * 1024;  // that a block may have

int32_t divide_up(int32_t x, int32_t by) { return (x + by - 1) / by; }

struct Cut {
  int32_t m, n, chunks;
  bool gated, rotated;

  explicit Cut(const Problem& problem) {
    const LinearShape shape(problem);
    m = static_cast<int32_t>(shape.m), n = static_cast<int32_t>(shape.n);
    chunks = divide_up(static_cast<int32_t>(shape.k), kWideDepth);
    gated = problem.as<Linear>().gated;
    rotated = shape.rotated > 0;
  }
  bool fits(const WideTile& tile) const {
    const bool rotates = tile.rows <= kMostRotated && tile.split == 1;
    return tile.gated == gated && (rotates || !rotated) && (tile.split == 1 || chunks >= kLeastSplit);
  }
  int32_t token_tiles(const WideTile& tile) const { return divide_up(m, tile.tokens); }
  int32_t tiles(const WideTile& tile) const { return token_tiles(tile) * divide_up(n, tile.columns()); }
  // As many as fit, at most those that are used.
  int32_t stages(const WideTile& tile) const {
    int32_t stages = std::clamp(chunks, 2, kWideMaxStages);
    while (tile.shared_bytes(stages) > kSharedBytes) --stages;
    return stages;
  }
  // In cycles, as measured when one thread fetched weights and tokens: what passes through shared memory, written once
  // and read by each product, 128 bytes a cycle, or the copies into it, if they are slower; wave after wave, and the
  // results of each, which two blocks exchange first.
  int64_t cost(const WideTile& tile) const {
    const int64_t rows = tile.rows, tokens = tile.tokens;
    const int64_t products = rows / 64 * (64 + tokens) + rows + tokens, copies = (rows + tokens) * 5 / 2;
    const int64_t waves = divide_up(tiles(tile) * tile.split, kMultiprocessors), each = divide_up(chunks, tile.split);
    return waves * (each * std::max(products, copies) + tile.split * rows * tokens / 6);
  }
};

// The WideEpilogue of linear_wide_block_sm90.cuh that ends as this layer does.
std::string epilogue_of(const Problem& problem, const WideTile& tile) {
  const LinearShape shape(problem);
  const auto& op = problem.as<Linear>();
  const DType out = problem.output.dtype;
  if (op.gated) return op.activation == Activation::silu ? "gated_silu" : "gated_gelu";
  if (shape.rotated > 0)
    return problem.linear_operand(LinearSlot::cos)->dtype == DType::f32 ? "rotated_f32" : "rotated";
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual)) {
    if (op.activation != Activation::none || residual->dtype != out) return "any";
    return out == DType::f32 ? "sum" : "sum_16";
  }
  if (tile.split > 1 || out == DType::f32) return "any";
  if (op.activation == Activation::gelu_tanh) return "gelu";
  return op.activation == Activation::none ? "rounded" : "any";
}

}  // namespace

std::vector<WideTile> wide_tiles(const Problem& problem) {
  const Cut cut(problem);
  std::vector<WideTile> tiles;
  std::copy_if(std::begin(kTiles), std::end(kTiles), std::back_inserter(tiles),
               [&](const WideTile& each) { return cut.fits(each); });
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const WideTile& a, const WideTile& b) { return cut.cost(a) < cut.cost(b); });
  tiles.resize(std::min(tiles.size(), kMostTiles));
  return tiles;
}

WidePlan::WidePlan(const Problem& problem) : tile(wide_tiles(problem).front()) {
  const Cut cut(problem);
  for (const WideTile& each : wide_tiles(problem))
    if (each.parameter() == problem.param("tile", 0)) tile = each;
  chunks = cut.chunks, stages = cut.stages(tile);
  token_tiles = cut.token_tiles(tile), tiles = cut.tiles(tile);
  function = fmt::format("linear_wide_{}_{}_{}_{}_{}", name_of(problem.inputs[0].dtype), tile.rows, tile.tokens,
                         tile.split, epilogue_of(problem, tile));
}

}  // namespace rung::gpu

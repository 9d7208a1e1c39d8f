// Cuts skinny linear layers into blocks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_skinny.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/divide.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<SkinnyConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_skinny.inc"
};
constexpr size_t kMostTiles = 6;  // tiles worth a trial
// Chunks of 16-bit K, or bytes of 8-bit K twice as long, of a block if blocks share K; with fewer, adding the sums
// costs more.
constexpr uint32_t kLeastChunks = 4;
constexpr int64_t kRingKib = 64;

// Returns the epilogue with the shortest code that ends as this layer does.
SkinnyEpilogue epilogue_of(const Problem& problem) {
  const LinearShape shape(problem);
  const auto& op = problem.as<Linear>();
  const auto is = [&](LinearSlot slot, DType type) { return problem.linear_operand(slot)->dtype == type; };
  const bool is_frequent = is(LinearSlot::x, DType::bf16) || has_8_bits(problem);
  const bool has_bias = op.has(LinearSlot::bias);
  if (op.has(LinearSlot::norm_weight)) {
    const bool adds_f32 = op.has(LinearSlot::residual) && is(LinearSlot::residual, DType::f32);
    const bool rare =
        has_bias || op.epilogue.activation != Activation::none || op.has(LinearSlot::squares) || !adds_f32;
    return is_frequent && !rare ? SkinnyEpilogue::norm : SkinnyEpilogue::norm_any;
  }
  const bool narrow = problem.output.dtype == DType::bf16 || is_quantised(problem.output.dtype);
  const bool plain = is_frequent && narrow && !has_bias && !op.has(LinearSlot::residual);
  if (op.epilogue.gated) return plain ? SkinnyEpilogue::gated : SkinnyEpilogue::gated_any;
  if (shape.rotated == 0) return SkinnyEpilogue::any;
  return plain && is(LinearSlot::cos, DType::f32) && is(LinearSlot::sin, DType::f32) ? SkinnyEpilogue::rotated
                                                                                     : SkinnyEpilogue::rotated_any;
}

struct Cut {
  int64_t blocks;       // blocks that run at once
  uint32_t most_bytes;  // leaves room for another kernel's block, so that loads of the next layer's weights start early
  uint32_t token_tiles, tokens, w_rows, chunks;  // tokens: of a tile
  uint32_t half;                                 // rows of w between partners; 0: no pairs
  bool rotated;
  DType type;
  SkinnyEpilogue epilogue;

  Cut(const Problem& problem, const GpuInfo& gpu) : blocks(blocks_at_once(gpu)), most_bytes(shared_bytes_of_two(gpu)) {
    const LinearShape shape(problem);
    const auto m = static_cast<uint32_t>(shape.m);
    token_tiles = divide_up(m, kSkinnyTokens);
    tokens = divide_up(divide_up(m, token_tiles), 8) * 8;
    w_rows = static_cast<uint32_t>(shape.w_rows);
    chunks = divide_up(static_cast<uint32_t>(row_bytes_of_w(problem)), kBoxColumns * 2);
    half = static_cast<uint32_t>(problem.as<Linear>().epilogue.gated ? shape.n : shape.head / 2);
    rotated = shape.rotated > 0;
    type = problem.inputs[0].dtype, epilogue = epilogue_of(problem);
  }
  uint32_t box_rows(const SkinnyConfig& tile) const { return tile.rows / (half > 0 ? 2 : 1); }
  uint32_t tiles(const SkinnyConfig& tile) const { return divide_up(half > 0 ? w_rows / 2 : w_rows, box_rows(tile)); }
  bool fits(const SkinnyConfig& tile) const {
    if (tile.type != type || tile.epilogue != epilogue || shared(tile, 2, 2).bytes() > most_bytes) return false;
    const uint32_t least = is_quantised(type) ? kLeastChunks / 2 : kLeastChunks;
    if (tile.split > 1 && chunks < tile.split * least) return false;
    // Larger tiles, of linear_wide_sm90, read x and w less often: with more tiles than run at once, that is faster.
    if (token_tiles > 1 && all_tiles(tile) > blocks) return false;
    return !rotated || half % box_rows(tile) == 0;
  }
  int64_t all_tiles(const SkinnyConfig& tile) const { return int64_t{tiles(tile)} * token_tiles; }
  // Returns what is least for the best tile. For one tile of tokens, which reads each weight once, that is how far the
  // blocks are from one each for all multiprocessors. For several it is the cycles that they take, wave after wave:
  // those of a chunk of K, whatever the rows, of a block's beginning and end, and of an exchange of sums. Two blocks on
  // a multiprocessor hide each other's waits: on an H100, 2304 columns of K = 768 for 128 tokens take 3.7 us as 144
  // blocks that share K by two, 4.0 as 72 that do not. Larger clusters gained nothing by that.
  int64_t cost(const SkinnyConfig& tile) const {
    constexpr int64_t chunk = 290, ends = 1500, exchange_each = 500;
    const int64_t all = all_tiles(tile) * tile.split;
    if (token_tiles == 1) return std::abs(all - blocks);
    const int64_t waves = divide_up(all, tile.split > 2 ? blocks : 2 * blocks);
    return waves * (divide_up(chunks, tile.split) * chunk + ends) + (tile.split > 1 ? exchange_each * tile.split : 0);
  }
  // Returns whether no two blocks of a launch share a multiprocessor, unless a parameter says so. Clusters that share
  // multiprocessors while others are idle take up to 10 % longer.
  bool alone(const SkinnyConfig& tile) const {
    return token_tiles > 1 && tile.split > 1 && all_tiles(tile) * tile.split <= blocks;
  }
  SkinnyShared shared(const SkinnyConfig& tile, uint32_t x_stages, uint32_t w_stages) const {
    return {tile.rows, tokens, tile.split, x_stages, w_stages};
  }
  // Returns as many stages of x as there are chunks, and as many of weights as asked for; if they do not fit, first x
  // and then the weights get fewer.
  SkinnyShared shared(const SkinnyConfig& tile, int64_t ring_kib) const {
    const uint32_t most = std::clamp(divide_up(chunks, tile.split), 2u, kSkinnyMaxStages);
    const uint32_t asked = static_cast<uint32_t>(ring_kib) * 1024 / skinny_box_bytes(tile.rows);
    SkinnyShared all = shared(tile, most, std::clamp(asked, 2u, most));
    while (all.bytes() > most_bytes) --(all.x_stages > 4 || all.w_stages == 2 ? all.x_stages : all.w_stages);
    return all;
  }
};

}  // namespace

std::vector<SkinnyConfig> skinny_tiles(const Problem& problem, const GpuInfo& gpu) {
  const Cut cut(problem, gpu);
  std::vector<SkinnyConfig> tiles;
  for (const auto& [config, symbol] : kVariants)
    if (cut.fits(config)) tiles.push_back(config);
  std::stable_sort(tiles.begin(), tiles.end(), [&](const auto& a, const auto& b) { return cut.cost(a) < cut.cost(b); });
  if (tiles.size() > kMostTiles) tiles.erase(tiles.begin() + kMostTiles, tiles.end());
  return tiles;
}

SkinnyPlan::SkinnyPlan(const Problem& problem, const GpuInfo& gpu) {
  const Cut cut(problem, gpu);
  const auto fitting = skinny_tiles(problem, gpu);
  tile = fitting.front();
  if (const SkinnyConfig* asked = find_asked(problem, kSkinnyParameters, fitting)) tile = *asked;
  box_rows = cut.box_rows(tile);
  tiles = cut.tiles(tile), token_tiles = cut.token_tiles;
  chunks = cut.chunks;
  shared = cut.shared(tile, problem.param("ring", kRingKib));
  alone = problem.param("alone", cut.alone(tile) ? 1 : 0) != 0;
  shared_bytes = alone ? std::max(shared.bytes(), shared_bytes_apart(gpu)) : shared.bytes();
  throttle_ns = static_cast<uint32_t>(problem.param("throttle", kSkinnyThrottleNs));
  function = symbol_of(kVariants, tile);
}

}  // namespace rung::gpu

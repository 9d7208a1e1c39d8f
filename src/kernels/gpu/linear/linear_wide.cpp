// Cuts wide linear layers into tiles, by an estimate of the cycles of each way.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_wide.hpp"

#include <algorithm>
#include <cmath>

#include "base/divide.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<WideConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_wide.inc"
};
constexpr size_t kMostTiles = 8;    // tiles worth a trial
constexpr int32_t kLeastSplit = 4;  // the fewest chunks of K that two blocks may share

// Returns the epilogue with the shortest code that ends as this layer does, if `split` blocks share K.
WideEpilogue epilogue_of(const Problem& problem, int32_t split) {
  const LinearShape shape(problem);
  const auto& op = problem.as<Linear>();
  const DType out = problem.output.dtype;
  if (op.epilogue.gated)
    return op.epilogue.activation == Activation::silu ? WideEpilogue::gated_silu : WideEpilogue::gated_gelu;
  if (shape.rotated > 0)
    return problem.linear_operand(LinearSlot::cos)->dtype == DType::f32 ? WideEpilogue::rotated_f32
                                                                        : WideEpilogue::rotated;
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual)) {
    if (op.epilogue.activation != Activation::none || residual->dtype != out) return WideEpilogue::any;
    return out == DType::f32 ? WideEpilogue::sum : WideEpilogue::sum_16;
  }
  if (split > 1 || out == DType::f32) return WideEpilogue::any;
  if (op.epilogue.activation == Activation::gelu) return WideEpilogue::gelu;
  if (op.epilogue.activation == Activation::gelu_tanh) return WideEpilogue::gelu_tanh;
  return op.epilogue.activation == Activation::none ? WideEpilogue::rounded : WideEpilogue::any;
}

struct Cut {
  int32_t multiprocessors, shared_bytes;  // of the machine; the most of a block
  int64_t l2_bytes;
  int32_t m, n, chunks;
  DType type, out;             // out: of results that are not f32
  WideEpilogue alone, shared;  // without and with two blocks that share K

  Cut(const Problem& problem, const GpuInfo& gpu)
      : multiprocessors(std::max(gpu.multiprocessors, 1)),
        shared_bytes(static_cast<int32_t>(gpu.shared_bytes_per_block)),
        l2_bytes(static_cast<int64_t>(gpu.l2_bytes)) {
    const LinearShape shape(problem);
    m = static_cast<int32_t>(shape.m), n = static_cast<int32_t>(shape.n);
    type = problem.inputs[0].dtype;
    out = is_quantised(problem.output.dtype) ? problem.output.dtype : wide_narrow(type);
    chunks = divide_up(static_cast<int32_t>(shape.k) * static_cast<int32_t>(size_of(type)), kWideRowBytes);
    alone = epilogue_of(problem, 1), shared = epilogue_of(problem, 2);
  }
  bool fits(const WideConfig& tile) const {
    if (chunks > tile.most_chunks()) return false;
    if (tile.type != type || tile.out != out || tile.shared_bytes(tile.least_stages()) > shared_bytes) return false;
    return tile.split == 1 ? tile.epilogue == alone : tile.epilogue == shared && chunks >= kLeastSplit;
  }
  int32_t token_tiles(const WideConfig& tile) const { return divide_up(m, tile.tokens); }
  int32_t tiles(const WideConfig& tile) const { return token_tiles(tile) * divide_up(n, tile.columns()); }
  // Returns the token tiles of a band: all of them if half of the L2 cache holds x, else as many as make the blocks
  // that run at once a square of tokens and rows of w, in bands of equal size.
  int32_t band(const WideConfig& tile) const {
    const int32_t all = token_tiles(tile);
    if (int64_t{m} * chunks * kWideRowBytes <= l2_bytes / 2) return all;
    const auto side = static_cast<int32_t>(std::sqrt(double(multiprocessors) * tile.rows / tile.tokens));
    return divide_up(all, divide_up(all, std::max(side, 1)));
  }
  // Returns as many stages as fit, but no more than are used.
  int32_t stages(const WideConfig& tile) const {
    int32_t stages = std::clamp(chunks, 2, kWideMaxStages);
    while (tile.shared_bytes(stages) > shared_bytes) --stages;
    return stages;
  }
  // Estimates cycles, as measured when one thread fetched weights and tokens: those of the bytes in shared memory,
  // which are written once and read by each product at 128 bytes a cycle, or of the copies into it, if they are slower;
  // wave after wave of blocks, each with its results, which two blocks exchange first.
  int64_t cost(const WideConfig& tile) const {
    const int64_t rows = tile.rows, tokens = tile.tokens;
    const int64_t products = rows / 64 * (64 + tokens) + rows + tokens, copies = (rows + tokens) * 5 / 2;
    const int64_t waves = divide_up(tiles(tile) * tile.split, multiprocessors), each = divide_up(chunks, tile.split);
    return waves * (each * std::max(products, copies) + tile.split * rows * tokens / 6);
  }
};

}  // namespace

std::vector<WideConfig> wide_tiles(const Problem& problem, const GpuInfo& gpu) {
  const Cut cut(problem, gpu);
  std::vector<WideConfig> tiles;
  for (const auto& [config, symbol] : kVariants)
    if (cut.fits(config)) tiles.push_back(config);
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const WideConfig& a, const WideConfig& b) { return cut.cost(a) < cut.cost(b); });
  if (tiles.size() > kMostTiles) tiles.erase(tiles.begin() + kMostTiles, tiles.end());
  return tiles;
}

WidePlan::WidePlan(const Problem& problem, const GpuInfo& gpu) : tile(wide_tiles(problem, gpu).front()) {
  const Cut cut(problem, gpu);
  const auto fitting = wide_tiles(problem, gpu);
  if (const WideConfig* asked = find_asked(problem, kWideParameters, fitting)) tile = *asked;
  chunks = cut.chunks, stages = cut.stages(tile);
  token_tiles = cut.token_tiles(tile), tiles = cut.tiles(tile), band = cut.band(tile);
  function = symbol_of(kVariants, tile);
}

}  // namespace rung::gpu

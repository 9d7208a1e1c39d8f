// Products of one or a few rows on tiles of 128 by 128 and more: nearly all of a tile is computed for nothing, and few
// blocks read the weights.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernel_tile.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/saving.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kSlowerThanBest = 1.1;  // relative to the best known programs' memory speed
constexpr int64_t kLeastTileNs = 8'000;  // shorter kernels take that long to begin and end

constexpr int kMostProductsBetween = 2;  // of queries, keys and values, the last has two before it

// Norms that launch a block for each row.
constexpr std::string_view kBlockPerRow[] = {"vectorized_layer_norm_kernel", "rms_norm_kernel"};

// Returns the rows of a product's input, from the norm before it on its stream, with at most other products of the same
// input between; 0: nothing shows it.
int64_t rows_before(const Analysis& analysis, size_t product) {
  const uint16_t lane = analysis.event(analysis.work[product]).lane;
  int between = 0;
  for (size_t i = product; i-- > 0;) {
    const Work& work = analysis.work[i];
    if (analysis.event(work).lane != lane) continue;
    if (work.kind.category == KernelCategory::gemm && between++ < kMostProductsBetween) continue;
    const std::string_view name = analysis.name(work);
    const auto grid = launch_of(analysis, work).grid;
    const bool tells = std::ranges::any_of(kBlockPerRow, [&](auto part) { return name.find(part) != name.npos; });
    return tells && grid[1] == 1 && grid[2] == 1 ? grid[0] : 0;
  }
  return 0;
}

class WideTiles {
 public:
  WideTiles(const Analysis& analysis, const CardPeaks& peaks) : analysis_(analysis), peaks_(peaks) {}

  // Decides by the operation's shapes: the product takes longer than its operands need.
  bool has(const Product& product) const {
    return product.batch == 1 && product.m <= kFewRowsOfTile && is_long_and_wide(product.main) &&
           static_cast<double>(product.ns) >
               kSlowerThanBest * static_cast<double>(attainable_ns(&peaks_, product.demand()));
  }
  // Decides by the grid if shapes are unknown: fewer blocks than the card has units read all weights.
  bool has(size_t work) const {
    const int64_t rows = rows_before(analysis_, work);
    if (rows == 0 || rows > kFewRowsOfTile || !is_long_and_wide(work)) return false;
    const double blocks = blocks_of(work);
    return blocks > 0 && blocks < peaks_.units && !splits_inner_dimension(analysis_.name(analysis_.work[work]));
  }
  double blocks_of(size_t work) const {
    const auto grid = launch_of(analysis_, analysis_.work[work]).grid;
    return double(grid[0]) * grid[1] * grid[2];
  }
  int64_t rows_of(size_t work) const { return rows_before(analysis_, work); }

 private:
  bool is_long_and_wide(size_t work) const {
    return analysis_.work[work].kind.category == KernelCategory::gemm &&
           is_wide_tile(analysis_.name(analysis_.work[work])) &&
           analysis_.event(analysis_.work[work]).duration_ns >= kLeastTileNs;
  }

  const Analysis& analysis_;
  const CardPeaks& peaks_;
};

std::string event_of(const Analysis& analysis, size_t work, std::string_view sizes) {
  const KernelTile tile = *tile_of(analysis.name(analysis.work[work]));
  return fmt::format("{} {}: tiles of {} x {}", analysis.name(analysis.work[work]), sizes, tile.first, tile.second);
}

// Adds products whose operation or sizes are not recorded, as in the replay of a graph.
void add_without_shapes(const Analysis& analysis, const WideTiles& tiles, Saving& saving, Tally& tally) {
  std::unordered_set<uint32_t> known;
  for (const Product& product : products_of(analysis)) known.insert(product.op);
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const Work& work = analysis.work[i];
    if ((work.op != kNone && known.contains(work.op)) || !tiles.has(i)) continue;
    const int64_t ns = analysis.event(work).duration_ns;
    saving.shorten(ns);
    tally.add(event_of(analysis, i, fmt::format("{} rows, {:.0f} blocks", tiles.rows_of(i), tiles.blocks_of(i))), ns);
  }
}

}  // namespace

std::optional<TraceFinding> wide_tiles(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  if (!peaks) return std::nullopt;  // a wide tile may read as fast as the card can
  const WideTiles tiles(analysis, *peaks);
  Saving saving(analysis);
  Tally tally;
  for (const Product& product : products_of(analysis)) {
    if (!tiles.has(product)) continue;
    saving.shorten(product.ns - floor_ns(peaks, product.demand()));
    tally.add(event_of(analysis, product.main, fmt::format("{}x{}x{}", product.m, product.n, product.k)), product.ns);
  }
  const int64_t with_shapes = tally.count();
  add_without_shapes(analysis, tiles, saving, tally);
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "wide_tiles";
  finding.title = fmt::format("{} products of at most {} rows a step, {}, run on tiles of {} x {} or more",
                              count_in_words(per_step(analysis, tally.count())), kFewRowsOfTile,
                              duration_ms(ms_per_step(analysis, tally.ns())), kWideTile, kWideTile);
  finding.evidence = tally.rows();
  saving.give_bound(finding, with_shapes == tally.count()
                                 ? "time above reading operands once at the card's memory rate"
                                 : "time above reading operands once at the card's memory rate; all of the time of "
                                   "products whose sizes are not recorded");
  finding.remedy = "Use kernels for few rows: GEMV, skinny products, narrow tiles, or a split inner dimension.";
  finding.changes = {
      {"PyTorch",
       "PYTORCH_TUNABLEOP_ENABLED=1 with a file tuned at these shapes (ROCm); torch.compile computes one row by a "
       "generated kernel; TORCH_BLAS_PREFER_HIPBLASLT chooses between rocBLAS and hipBLASLt"},
      {"vLLM",
       "on ROCm VLLM_ROCM_USE_SKINNY_GEMM=1 (the default), which wants f16 or bf16 without bias in some versions"},
      {"AMD",
       "tune hipBLASLt for these shapes and give the file by HIPBLASLT_TUNING_OVERRIDE_FILE: an untuned shape gets the "
       "nearest tuned one's tile"},
  };
  finding.traps =
      "A tuned entry holds for one number of rows: batched or speculative decoding has another. A wide tile that "
      "reads weights as fast as the card can costs nothing, and is not claimed. Split sums run in another order.";
  finding.confirm = "The kernel's name has another tile, and its time falls; compare outputs; the step in turns.";
  return finding;
}

}  // namespace rung::trace::findings

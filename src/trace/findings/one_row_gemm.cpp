// Products of one or a few rows on kernels made for tiles of many: the speed of reading weights decides.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernel_tile.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/saving.hpp"

namespace rung::trace::findings {
namespace {

constexpr int64_t kFewRows = 4;
constexpr int64_t kLeastWeights = 1 << 20;  // smaller ones take as long as a launch
constexpr double kSlower = 1.1;             // relative to the best known programs' memory speed
// Kernels made for few rows, or that split the inner dimension so that the whole card reads.
constexpr std::string_view kFewRowKernels[] = {"gemv",   "Gemv", "GEMV", "splitK",   "SplitK", "split_k",
                                               "skinny", "dot_", "LLMM", "wvSplitK", "LLGemm", "wv_split"};

bool is_for_few_rows(std::string_view kernel) {
  return std::ranges::any_of(kFewRowKernels, [&](std::string_view part) { return kernel.find(part) != kernel.npos; });
}

bool is_slow_row(const Analysis& analysis, const Product& product, const CardPeaks* peaks) {
  const std::string_view kernel = analysis.name(analysis.work[product.main]);
  return product.batch == 1 && product.m <= kFewRows && elements_of(product.b) >= kLeastWeights &&
         !is_for_few_rows(kernel) && !is_wide_tile(kernel) &&  // finding wide_tiles has those
         static_cast<double>(product.ns) > kSlower * static_cast<double>(attainable_ns(peaks, product.demand()));
}

}  // namespace

std::optional<TraceFinding> one_row_gemm(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  if (!peaks) return std::nullopt;  // a tile kernel may read as fast as the card can
  Saving saving(analysis);
  Tally tally;
  double bytes = 0;
  for (const Product& product : products_of(analysis)) {
    if (!is_slow_row(analysis, product, peaks)) continue;
    saving.shorten(product.ns - floor_ns(peaks, product.demand()));
    bytes += product.demand().bytes;
    tally.add(fmt::format("{} {}x{}x{}", analysis.name(analysis.work[product.main]), product.m, product.n, product.k),
              product.ns);
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "one_row_gemm";
  finding.title = fmt::format("{} products of at most {} rows a step, {}, read weights at {} of the card's memory rate",
                              count_in_words(per_step(analysis, tally.count())), kFewRows,
                              duration_ms(ms_per_step(analysis, tally.ns())),
                              percent(bytes / peaks->memory_gbps / static_cast<double>(tally.ns())));
  finding.evidence = tally.rows();
  saving.give_bound(finding, "time above reading operands once at the card's memory rate");
  finding.remedy = "Use kernels for few rows: GEMV, skinny products, or a split inner dimension.";
  finding.changes = {
      {"PyTorch",
       "PYTORCH_TUNABLEOP_ENABLED=1 with a file tuned at these shapes (ROCm); torch.compile computes one row by a "
       "generated kernel that it can fuse with what is around it"},
      {"vLLM",
       "on ROCm VLLM_ROCM_USE_SKINNY_GEMM=1 (the default), which wants f16 or bf16 without bias in some versions"},
      {"AMD", "rocBLAS for small M; aiter's GEMMs and preshuffled weights from about 64 rows"},
  };
  finding.traps =
      "Narrower weights (FP8, INT4) bring more than a better kernel where memory is the limit. A tuned entry holds "
      "for one M: speculative or batched decoding has another.";
  finding.confirm = "Bytes of weights over kernel time, against the card's memory rate; the step in turns.";
  return finding;
}

}  // namespace rung::trace::findings

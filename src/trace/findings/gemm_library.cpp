// Finds products in Triton where the vendor's library is faster, and the reverse, on evidence alone.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/saving.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kClearly = 1.05;
constexpr int64_t kLongEnoughNs = 10'000;  // peaks do not apply to shorter ones

using Sizes = std::array<int64_t, 4>;
Sizes sizes_of(const Product& product) { return {product.batch, product.m, product.n, product.k}; }

bool is_triton(const Analysis& analysis, const Product& product) {
  return analysis.work[product.main].kind.library == "Triton";
}

// The shortest run of the same sizes and type by the other side.
class OtherSide {
 public:
  OtherSide(const Analysis& analysis, const std::vector<Product>& products) {
    for (const Product& product : products) {
      int64_t& best = best_[{is_triton(analysis, product), std::string(product.type()), sizes_of(product)}];
      best = best == 0 ? product.ns : std::min(best, product.ns);
    }
  }
  // Returns 0 if none is recorded.
  int64_t best_ns(const Product& product, bool triton) const {
    const auto found = best_.find({!triton, std::string(product.type()), sizes_of(product)});
    return found == best_.end() ? 0 : found->second;
  }

 private:
  std::map<std::tuple<bool, std::string, Sizes>, int64_t> best_;
};

// Returns the least time of a product by the other side; 0: no evidence that it is faster.
int64_t by_other_side_ns(const Product& product, bool triton, int64_t other_ns, const CardPeaks* peaks) {
  const auto ns = static_cast<double>(product.ns);
  if (other_ns > 0) return ns > kClearly * static_cast<double>(other_ns) ? other_ns : 0;
  if (!triton || !peaks || !is_narrow(product.type()) || product.ns < kLongEnoughNs) return 0;
  const bool is_slow = ns > kClearly * static_cast<double>(attainable_ns(peaks, product.demand()));
  return is_slow ? floor_ns(peaks, product.demand()) : 0;
}

constexpr std::string_view kTriton = "Triton", kVendor = "the vendor's library";

}  // namespace

std::optional<TraceFinding> gemm_library(const Analysis& analysis) {
  const std::vector<Product>& products = products_of(analysis);
  const OtherSide others(analysis, products);
  const CardPeaks* peaks = peaks_of(analysis);
  Saving saving(analysis);
  std::array<Tally, 2> tallies;  // by the vendor's library, by Triton
  double triton_flops = 0;
  for (const Product& product : products) {
    const bool triton = is_triton(analysis, product);
    const int64_t other = by_other_side_ns(product, triton, others.best_ns(product, triton), peaks);
    if (other == 0) continue;
    saving.shorten(product.ns - other);
    tallies[triton].add(
        fmt::format("{} {}x{}x{}", analysis.name(analysis.work[product.main]), product.m, product.n, product.k),
        product.ns);
    if (triton) triton_flops += product.flops();
  }
  const bool triton = tallies[1].ns() >= tallies[0].ns();
  const Tally& tally = tallies[triton];
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "gemm_library";
  finding.title = fmt::format(
      "{} products of a step, {}, are by {} and slower than {}", count_in_words(per_step(analysis, tally.count())),
      duration_ms(ms_per_step(analysis, tally.ns())), triton ? kTriton : kVendor, triton ? kVendor : kTriton);
  if (peaks && triton)
    finding.title += fmt::format(" can be: {} of the card's peak", percent(triton_flops / (peaks->narrow_tflops * 1e3) /
                                                                           static_cast<double>(tally.ns())));
  for (const Tally& rows : tallies) std::ranges::copy(rows.rows(), std::back_inserter(finding.evidence));
  saving.give_bound(finding, "time above the same sizes by the other in this recording, else above the card's peaks");
  finding.remedy = triton ? "Leave these products to the vendor's library." : "Let Triton compute these products.";
  finding.changes = {
      {"PyTorch",
       "torch._inductor.config.max_autotune_gemm_backends (TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS): \"ATEN\" keeps "
       "the vendor's, \"ATEN,TRITON\" measures both, \"CK\" adds Composable Kernel on ROCm; without max_autotune_gemm "
       "products are the vendor's"},
      {"PyTorch on ROCm",
       "TORCH_BLAS_PREFER_HIPBLASLT and DISABLE_ADDMM_CUDA_LT choose between rocBLAS and hipBLASLt; "
       "PYTORCH_TUNABLEOP_ENABLED=1 with a tuned file chooses per shape"},
      {"vLLM",
       "VLLM_ENABLE_INDUCTOR_MAX_AUTOTUNE=0 with compile_sizes; on ROCm VLLM_ROCM_USE_AITER=1 and "
       "VLLM_ROCM_USE_AITER_LINEAR choose aiter's"},
  };
  finding.traps =
      "Templates fuse what follows a product: as many kernels as the library's may come back. "
      "TORCH_ROCM_USE_HIPBLASLT is read by nothing. aiter's assembly kernels and preshuffled weights pay only above a "
      "number of rows (M of about 64 and more): preshuffling all weights slows small M down; and its tuned files ship "
      "empty for many shapes.";
  finding.confirm = "Time a whole step in turns; autotuning measures kernels alone, with weights in cache.";
  return finding;
}

}  // namespace rung::trace::findings

// Products whose sizes or strides rule out fast kernels: odd rows, rows that share a memory channel, few tiles.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

constexpr int kVectorBytes = 16;    // the widest load of a thread
constexpr int kChannelBytes = 512;  // on CDNA 3, strides that are multiples share one channel of the tag RAM
constexpr double kFewBlocks = 32;   // or a quarter of the card's units, if it has fewer than 128

// Returns bytes from one row to the next; 0: rows or columns of one element, or strides not recorded.
int64_t row_bytes(const CallOperand& operand) {
  const size_t rank = operand.shape.size();
  if (rank < 2 || operand.strides.size() != rank) return 0;
  if (operand.shape[rank - 1] <= 1 || operand.shape[rank - 2] <= 1) return 0;
  return std::max(operand.strides[rank - 1], operand.strides[rank - 2]) * bytes_of(operand.type);
}

// Returns whether memory holds [m, k] and [n, k], so that both are read along k.
bool is_tn(const Product& product) {
  const auto has_unit = [](const CallOperand& operand, size_t from_last) {
    const size_t rank = operand.strides.size();
    return rank > from_last && operand.strides[rank - 1 - from_last] == 1;
  };
  return has_unit(product.a, 0) && has_unit(product.b, 1);
}

double blocks_of(const Analysis& analysis, const Work& work) {
  const std::array<uint32_t, 3> grid = launch_of(analysis, work).grid;
  return double(grid[0]) * grid[1] * grid[2];
}

bool is_slower_than(double times, const Product& product, const CardPeaks* peaks) {
  const int64_t attainable = attainable_ns(peaks, product.demand());
  return attainable > 0 && static_cast<double>(product.ns) > times * static_cast<double>(attainable);
}

// Describes rows that are odd in bytes; empty: none is visible.
std::string odd_rows(const Product& product) {
  for (const CallOperand* operand : {&product.a, &product.b})
    if (const int64_t bytes = row_bytes(*operand); bytes % kVectorBytes != 0)
      return fmt::format("rows of {} bytes", bytes);
  if (const int64_t bytes = product.n * bytes_of(product.type()); product.m > 1 && bytes % kVectorBytes != 0)
    return fmt::format("rows of {} bytes", bytes);
  return {};
}

std::string why_slow(const Analysis& analysis, const Product& product, const CardPeaks* peaks) {
  constexpr double kOdd = 2, kChannel = 1.5, kTiles = 3;
  constexpr int64_t kRows = 64, kLongEnoughNs = 10'000;
  if (is_slower_than(kOdd, product, peaks))
    if (std::string odd = odd_rows(product); !odd.empty()) return odd;
  if (!is_narrow(product.type())) return {};
  const bool is_cdna = peaks->is_amd();
  if (is_cdna && product.m >= kRows && is_tn(product) && row_bytes(product.a) % kChannelBytes == 0 &&
      row_bytes(product.b) % kChannelBytes == 0 && is_slower_than(kChannel, product, peaks))
    return fmt::format("rows of {} bytes, a multiple of {}", row_bytes(product.b), kChannelBytes);
  const Work& work = analysis.work[product.main];
  const double blocks = blocks_of(analysis, work);
  const bool is_split = analysis.name(work).find("plit") != std::string_view::npos;
  if (blocks > 0 && blocks < std::min(kFewBlocks, peaks->units / 4.0) && !is_split && product.ns >= kLongEnoughNs &&
      is_slower_than(kTiles, product, peaks))
    return fmt::format("{:.0f} tiles", blocks);
  return {};
}

}  // namespace

std::optional<TraceFinding> slow_shape(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  if (!peaks) return std::nullopt;
  Saving saving(analysis);
  Tally tally;
  for (const Product& product : products_of(analysis)) {
    const std::string why = why_slow(analysis, product, peaks);
    if (why.empty()) continue;
    saving.shorten(product.ns - floor_ns(peaks, product.demand()));
    tally.add(fmt::format("{} {} by {}: {}", op_name(analysis, analysis.work[product.main]),
                          shape_text(product.a.shape), shape_text(product.b.shape), why),
              product.ns);
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "slow_shape";
  finding.title =
      fmt::format("{} products of a step, {}, have sizes or strides that fast kernels do not take",
                  count_in_words(per_step(analysis, tally.count())), duration_ms(ms_per_step(analysis, tally.ns())));
  finding.evidence = tally.rows();
  saving.give_bound(finding, "time above what operands and arithmetic need at the card's peaks");
  finding.remedy =
      "Pad weights once, and activations as they are made, to rows of whole vectors; split what has few tiles.";
  finding.changes = {
      {"PyTorch",
       "pad K and N of the weights to a multiple of 8 (bf16, f16; 64 is better), zeros beyond the end; for attention "
       "by pieces, pad the keys and mask them; torch.compile pads by itself (torch._inductor.config.shape_padding, on "
       "by default)"},
      {"vLLM",
       "vocabularies and hidden sizes are padded by its layers (pad_vocab_size); on ROCm VLLM_ROCM_FP8_PADDING=1 pads "
       "FP8 weights, VLLM_ROCM_MOE_PADDING=1 experts"},
      {"AMD",
       "where K is a multiple of 256 elements of f16 or bf16 and both operands lie along K: row strides of K + 128 "
       "elements; few tiles: smaller ones, or split K"},
  };
  finding.traps =
      "Padding the result's columns changes the stride of what reads it. Tuned files hold the old sizes: tune again. "
      "A copy that pads in every step can cost what it brings; weights are padded once.";
  finding.confirm =
      "The kernel's name changes (align1 or align2 gone), and its time; compare outputs: zeros add nothing.";
  return finding;
}

}  // namespace rung::trace::findings

// Keys and values of grouped heads are written out, or read, once per head of the queries.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/attention_chains.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/fused_attention.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

// Finds a copy to [batch, groups, heads of a group, rows, head] that repeats a dimension between first and last.
std::optional<TensorCopy> repetition_of(const Analysis& analysis, const Work& work) {
  constexpr size_t kLeastDimensions = 4;
  std::optional<TensorCopy> copy = tensor_copy_of(analysis, work);
  if (!copy || !copy->is_expanded || copy->from.shape.size() < kLeastDimensions) return std::nullopt;
  for (size_t i = 1; i + 1 < copy->from.shape.size(); ++i)
    if (copy->from.strides[i] == 0 && copy->from.shape[i] > 1) return copy;
  return std::nullopt;
}

int64_t times_of(const TensorCopy& copy) {
  const int64_t stored = stored_elements_of(copy.from);
  return stored > 0 ? elements_of(copy.from) / stored : 1;
}

// Copies to all heads that attention or a product has not read yet.
struct Repetitions {
  std::vector<size_t> copies;
  int64_t times = 1;
};

class RepeatedKeys {
 public:
  explicit RepeatedKeys(const Analysis& analysis)
      : analysis_(analysis),
        peaks_(peaks_of(analysis)),
        saving_(analysis),
        products_(products_of(analysis)),
        chains_(attention_chains(analysis, products_)),
        is_scores_(analysis.work.size()) {
    for (const AttentionChain& chain : chains_)
      if (chain.scores)
        for (size_t i = chain.scores->first; i <= chain.scores->last; ++i) is_scores_[i] = true;
  }

  void look() {
    Repetitions open;
    size_t others = 0;
    for (size_t i = 0; i < analysis_.work.size(); ++i) {
      if (const auto copy = repetition_of(analysis_, analysis_.work[i])) {
        open.copies.push_back(i);
        open.times = std::max(open.times, times_of(*copy));
        others = 0;
      } else if (!open.copies.empty() && (is_read_by(i, open) || ++others > kMostBetween)) {
        open = {};
      }
    }
    for (const AttentionChain& chain : chains_) look_at_broadcast(chain);
  }

  std::optional<TraceFinding> finding();

 private:
  static constexpr size_t kMostBetween = 8;  // pieces between the copies and attention: scales, copies of queries

  // Returns whether the work ends the open copies: attention or a chain's product reads them.
  bool is_read_by(size_t i, const Repetitions& open) {
    const Work& work = analysis_.work[i];
    if (work.kind.category != KernelCategory::attention && !is_scores_[i])
      return work.kind.category == KernelCategory::gemm;
    for (const size_t copy : open.copies) {
      saving_.remove(copy);
      const auto operands = tensor_copy_of(analysis_, analysis_.work[copy]);
      tally_.add(label_of(analysis_, analysis_.work[copy]) + " " + shape_text(operands->to.shape),
                 analysis_.event(analysis_.work[copy]).duration_ns);
    }
    copies_ += static_cast<int64_t>(open.copies.size());
    const auto demand = fused_demand_of(analysis_, work, open.times);
    if (demand && work.kind.category == KernelCategory::attention) {
      const int64_t slack = analysis_.event(work).duration_ns - floor_ns(peaks_, *demand);
      if (peaks_ && slack > 0) saving_.shorten(slack);
    }
    return true;
  }

  // Handles products without a copy: every head reads the same keys, with a stride of 0.
  void look_at_broadcast(const AttentionChain& chain) {
    if (!chain.scores || !chain.values) return;
    for (const Product* product : {&*chain.scores, &*chain.values}) {
      const CallOperand& keys = product->b;
      if (product->batch < 2 || keys.strides.size() != keys.shape.size() || keys.strides[0] != 0) continue;
      ++broadcasts_;
      tally_.add(label_of(analysis_, analysis_.work[product->main]) + " by " + shape_text(keys.shape) + ", heads alike",
                 product->ns);
      saving_.shorten(product->ns - floor_ns(peaks_, product->demand()));
    }
  }

  const Analysis& analysis_;
  const CardPeaks* peaks_;
  Saving saving_;
  const std::vector<Product>& products_;
  std::vector<AttentionChain> chains_;
  std::vector<bool> is_scores_;  // per piece of work: the first product of a chain
  Tally tally_;
  int64_t copies_ = 0, broadcasts_ = 0;
};

std::optional<TraceFinding> RepeatedKeys::finding() {
  if (tally_.empty() || !is_worthwhile(analysis_, saving_.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "repeated_kv";
  const std::string copied = fmt::format("{} copies", count_in_words(per_step(analysis_, copies_)));
  const std::string read = fmt::format("{} products", count_in_words(per_step(analysis_, broadcasts_)));
  finding.title = fmt::format("Keys and values of few heads are repeated for all: {} and {} of a step",
                              copies_ == 0 ? read : (broadcasts_ == 0 ? copied : copied + ", " + read),
                              duration_ms(ms_per_step(analysis_, tally_.ns())));
  finding.evidence = tally_.rows();
  saving_.give_bound(
      finding, "time of the copies, and what their readers take above the card's peaks with keys and values read once");
  finding.remedy = "Give grouped keys and values to a kernel that knows groups.";
  finding.changes = {
      {"PyTorch",
       "scaled_dot_product_attention(..., enable_gqa=True) in place of repeat_interleave(), repeat() or "
       "expand().reshape(); for products of one group, fold its heads into the rows of the queries"},
      {"vLLM", "its attention takes num_kv_heads as it is; a model's own repeat_kv goes"},
  };
  finding.traps =
      "With enable_gqa and f32, or where no fused kernel fits, scaled_dot_product_attention repeats keys and values "
      "itself. expand() alone copies nothing; the reshape(), flatten() or contiguous() after it does.";
  finding.confirm = "The copies are gone from the trace; outputs are the same bits or differ by the order of sums.";
  return finding;
}

}  // namespace

std::optional<TraceFinding> repeated_kv(const Analysis& analysis) {
  RepeatedKeys keys(analysis);
  keys.look();
  return keys.finding();
}

}  // namespace rung::trace::findings

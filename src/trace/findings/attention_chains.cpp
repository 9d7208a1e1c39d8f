// Searches the products before and after each softmax.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/attention_chains.hpp"

#include <algorithm>

#include "trace/findings/kernels.hpp"

namespace rung::trace {
namespace {

constexpr size_t kNowhere = SIZE_MAX;
constexpr size_t kMostBetween = 6;  // pieces between softmax and a product: scale, mask, types, non-finite values
constexpr std::string_view kFallback = "_scaled_dot_product_attention_math";

class ChainFinder {
 public:
  ChainFinder(const Analysis& analysis, const std::vector<Product>& products)
      : analysis_(analysis), products_(products), product_of_(analysis.work.size(), kNowhere) {
    for (size_t p = 0; p < products.size(); ++p)
      for (size_t i = products[p].first; i <= products[p].last; ++i)
        if (analysis.work[i].op == products[p].op) product_of_[i] = p;
  }

  // Returns the chain around a softmax, which begins at `from` or later.
  std::optional<AttentionChain> around(size_t softmax, size_t from) const {
    if (product_of_[softmax] != kNowhere) return std::nullopt;
    AttentionChain chain;
    chain.first = product_beside(softmax, -1);
    chain.last = product_beside(softmax, +1);
    if (chain.first == kNowhere || chain.last == kNowhere) return std::nullopt;
    chain.scores = product_at(chain.first);
    chain.values = product_at(chain.last);
    if (chain.scores.has_value() != chain.values.has_value()) return std::nullopt;
    if (chain.scores && !fit(*chain.scores, *chain.values)) return std::nullopt;
    if (!chain.scores && analysis_.work[softmax].op != kNone) return std::nullopt;
    chain.is_masked = !chain.scores || is_masked(chain.first, softmax);
    if (chain.scores) {
      chain.first = chain.scores->first;
      chain.last = chain.values->last;
    }
    if (chain.first < from || chain.last <= chain.first) return std::nullopt;
    extend(chain, from);
    return chain;
  }

 private:
  static bool fit(const Product& scores, const Product& values) {
    return scores.batch == values.batch && scores.m == values.m && scores.n == values.k;
  }

  bool is_product(size_t i) const {
    return product_of_[i] != kNowhere || analysis_.work[i].kind.category == KernelCategory::gemm;
  }
  std::optional<Product> product_at(size_t i) const {
    return product_of_[i] == kNowhere ? std::nullopt : std::optional(products_[product_of_[i]]);
  }

  size_t product_beside(size_t softmax, ptrdiff_t step) const {
    const auto count = static_cast<ptrdiff_t>(analysis_.work.size());
    auto at = static_cast<ptrdiff_t>(softmax) + step;
    for (size_t between = 0; at >= 0 && at < count; at += step) {
      const auto i = static_cast<size_t>(at);
      if (is_product(i)) return i;
      if (analysis_.event(analysis_.work[i]).kind == EventKind::fill) continue;
      if (!is_small_step(analysis_.work[i]) || analysis_.work[i].kind.category == KernelCategory::norm) break;
      if (++between > kMostBetween) break;
    }
    return kNowhere;
  }

  bool is_masked(size_t scores, size_t softmax) const {
    for (size_t i = scores + 1; i < softmax; ++i)
      for (const std::string_view word : {"add", "where", "mask"})
        if (op_name(analysis_, analysis_.work[i]).find(word) != std::string_view::npos) return true;
    return false;
  }

  bool is_copy(size_t i, AttentionChain& chain) const {
    const Work& work = analysis_.work[i];
    if (work.op == kNone) return is_strided_copy_kernel(analysis_.name(work));
    const auto copy = tensor_copy_of(analysis_, work);
    constexpr size_t kHeads = 4;  // dimensions: batch, heads, rows, elements of a head
    if (!copy || copy->to.shape.size() < kHeads) return false;
    chain.is_expanded |= copy->is_expanded;
    return copy->is_expanded || copy->is_reordered;
  }

  void extend(AttentionChain& chain, size_t from) const {
    const uint32_t fallback = op_around(analysis_, analysis_.work[chain.first], kFallback);
    chain.is_fallback = fallback != kNone;
    const auto belongs = [&](size_t i) {
      return is_copy(i, chain) || (fallback != kNone && op_around(analysis_, analysis_.work[i], kFallback) == fallback);
    };
    while (chain.first > from && belongs(chain.first - 1)) --chain.first;
    if (chain.last + 1 < analysis_.work.size() && belongs(chain.last + 1)) ++chain.last;
  }

  const Analysis& analysis_;
  const std::vector<Product>& products_;
  std::vector<size_t> product_of_;  // per piece of work
};

}  // namespace

Demand AttentionChain::fused_demand() const {
  if (!scores || !values) return {};
  const double result = double(values->batch) * double(values->m) * double(values->n);
  const double keys = double(stored_elements_of(scores->b)) + double(stored_elements_of(values->b));
  const double elements = double(stored_elements_of(scores->a)) + (is_expanded ? 0 : keys) + result;
  return {is_masked ? 0 : scores->flops() + values->flops(), elements * bytes_of(values->type())};
}

std::vector<AttentionChain> attention_chains(const Analysis& analysis, const std::vector<Product>& products) {
  const ChainFinder finder(analysis, products);
  std::vector<AttentionChain> chains;
  size_t from = 0;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    if (!is_softmax(analysis, analysis.work[i])) continue;
    auto chain = finder.around(i, from);
    if (!chain) continue;
    from = chain->last + 1;
    chains.push_back(std::move(*chain));
  }
  return chains;
}

std::vector<bool> work_in(const Analysis& analysis, const std::vector<AttentionChain>& chains) {
  std::vector<bool> inside(analysis.work.size());
  for (const AttentionChain& chain : chains)
    for (size_t i = chain.first; i <= chain.last; ++i) inside[i] = true;
  return inside;
}

}  // namespace rung::trace

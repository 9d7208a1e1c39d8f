// Counts the keys that the queries of a chunk see, and those that any of them sees.
// SPDX-License-Identifier: Apache-2.0
#include "plan/step_cost.hpp"

#include <algorithm>

namespace rung {
namespace {

double bytes_of(const PlanOperand& operand) { return static_cast<double>(type_of(operand).bytes()); }

// A step's attention over a cache that is filled up to a length.
struct CacheRead {
  KeySpan span;
  int64_t queries, places;
  int64_t own;     // keys that it reads of its queries' tokens: none, if it makes them
  double flops;    // of a pair of a query and a key
  double bytes;    // of all keys, and again of all values
  double counted;  // of these, in Step::bytes
};

std::optional<CacheRead> cache_read_by(const Step& step) {
  const Shape& result = step.output.view.shape;  // its last axes are heads and their columns
  if (const auto* cached = as<CachedAttention>(step.op)) {
    const PlanOperand& keys = step.inputs[CacheHeads::kKeys];
    const int64_t columns = result.back(1) * result.back();
    return CacheRead{.span = cached->span,
                     .queries = result.product() / columns,
                     .places = keys.view.shape[0],
                     .own = 0,
                     .flops = 4 * static_cast<double>(columns),
                     .bytes = bytes_of(keys),
                     .counted = 0};
  }
  const auto* attention = as<Attention>(step.op);
  if (!attention || !attention->has_length()) return std::nullopt;
  // At a text's beginning keys and values count with as many bytes as the result has, at most (ir/semantics.hpp).
  const PlanOperand& keys = step.inputs[attention->first_key()];
  return CacheRead{.span = attention->span,
                   .queries = result[1],
                   .places = keys.view.shape[1],
                   .own = result[1],
                   .flops = 4 * static_cast<double>(result[0] * result[2] * result[3]),
                   .bytes = bytes_of(keys),
                   .counted = std::min(bytes_of(keys), bytes_of(step.output))};
}

}  // namespace

Cost cost_behind(const Step& step, int64_t tokens) {
  Cost cost{step.flops, step.bytes};
  const auto read = cache_read_by(step);
  if (!read) return cost;
  const KeySpan here{.before = read->span.before - tokens, .after = tokens};  // counted from the first key
  const int64_t queries = read->queries;
  cost.flops += read->flops * (here.pairs(queries, tokens + queries) - read->span.pairs(queries, queries));
  const int64_t seen = std::min({tokens, read->span.before, read->places - queries}) + read->own;
  const double part = static_cast<double>(seen) / static_cast<double>(read->places);
  cost.bytes += 2 * (read->bytes * part - read->counted);
  return cost;
}

Cost cost_of_full_cache(const Step& step) {
  const auto read = cache_read_by(step);
  return cost_behind(step, read ? std::max<int64_t>(0, read->places - read->queries) : 0);
}

std::optional<int64_t> full_length(const Problem& problem, size_t i) {
  const Shape& result = problem.output.shape;
  if (as<CachedAttention>(problem.op)) {
    if (i + 1 != problem.inputs.size()) return std::nullopt;
    return std::max(problem.inputs[CacheHeads::kKeys].shape[0], result.product() / (result.back(1) * result.back()));
  }
  const auto* attention = as<Attention>(problem.op);
  if (!attention || attention->slots.at(AttentionSlot::length) != static_cast<int>(i)) return std::nullopt;
  return std::max(problem.inputs[attention->first_key()].shape[1], result[1]);
}

}  // namespace rung

// Counts the keys that the queries of a chunk see, and those that any of them sees.
// SPDX-License-Identifier: Apache-2.0
#include "plan/step_cost.hpp"

#include <algorithm>

namespace rung {
namespace {

double bytes_of(const PlanOperand& operand) { return static_cast<double>(type_of(operand).bytes()); }

}  // namespace

Cost cost_behind(const Step& step, int64_t tokens) {
  Cost cost{step.flops, step.bytes};
  const auto* attention = as<Attention>(step.op);
  if (!attention || !attention->has_length()) return cost;
  const Shape& queries = step.inputs[0].view.shape;
  const PlanOperand& keys = step.inputs[attention->first_key()];
  const KeySpan here{.before = attention->span.before - tokens, .after = tokens};  // counted from the first key
  const auto of_head = static_cast<double>(queries[0] * queries[2] * queries[3]);
  cost.flops = 4 * of_head * here.pairs(queries[1], tokens + queries[1]);
  const int64_t places = keys.view.shape[1];
  const int64_t seen = std::min({tokens, attention->span.before, places - queries[1]}) + queries[1];
  // At a text's beginning keys and values count with as many bytes as the result has, at most (ir/semantics.hpp).
  const double all = bytes_of(keys), counted = std::min(all, bytes_of(step.output));
  cost.bytes += 2 * (all * static_cast<double>(seen) / static_cast<double>(places) - counted);
  return cost;
}

Cost cost_of_full_cache(const Step& step) {
  const auto* attention = as<Attention>(step.op);
  if (!attention || !attention->has_length()) return cost_behind(step, 0);
  const int64_t places = step.inputs[attention->first_key()].view.shape[1];
  return cost_behind(step, std::max<int64_t>(0, places - step.inputs[0].view.shape[1]));
}

std::optional<int64_t> full_length(const Problem& problem, size_t i) {
  const auto* attention = as<Attention>(problem.op);
  if (!attention || attention->slots.at(AttentionSlot::length) != static_cast<int>(i)) return std::nullopt;
  return std::max(problem.inputs[attention->first_key()].shape[1], problem.output.shape[1]);
}

}  // namespace rung

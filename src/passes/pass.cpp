// The questions that guard fusions and merges.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.hpp"

#include <algorithm>

namespace rung {

bool PassContext::kernel_for(const Graph& graph, const Op& op, std::span<const NodeId> operands) {
  if (!has_kernel) return true;
  std::vector<Type> types;
  for (NodeId operand : operands) types.push_back(graph.type(operand));
  Verdict verdict = has_kernel(op, types);
  if (verdict) return true;
  std::string line = fmt::format("not fused into {}: {}", name_of(op), verdict.reason);
  if (std::find(notes.lines.begin(), notes.lines.end(), line) == notes.lines.end())
    notes.lines.push_back(std::move(line));
  return false;
}

bool PassContext::same_precision(const Graph& graph, NodeId a, NodeId b) const {
  LabelPrecision of_a = precision_at(precision, graph[a].label);
  const LabelPrecision of_b = precision_at(precision, graph[b].label);
  of_a.cache = of_b.cache;  // a cache is no part of either
  return of_a == of_b;
}

}  // namespace rung

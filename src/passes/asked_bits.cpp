// Asks the precision at a linear's label.
// SPDX-License-Identifier: Apache-2.0
#include "passes/asked_bits.hpp"

namespace rung::passes {

AskedBits asked_bits(const Graph& graph, const std::vector<bool>& constant, const Precision& precision, NodeId id) {
  const auto* op = graph.as<Linear>(id);
  if (!op || op->has(LinearSlot::scale)) return {};
  const NodeId w = graph[id].operands[1];
  const LabelPrecision asked = precision_at(precision, graph[id].label);
  if (!constant[w] || (asked.values != DType::f32 && graph.type(w).dtype == DType::f32)) return {};
  if (is_quantised(asked.products)) return {.both = asked.products, .weights = {}};
  return {.both = {}, .weights = asked.weights};
}

}  // namespace rung::passes

// Derives the work and traffic of an op from its semantics.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cost.hpp"

#include <algorithm>
#include <numeric>

#include "ir/semantics.hpp"

namespace rung {
namespace {

bool is_free(const Op& op) { return is_view(op) || as<Input>(op) || as<Constant>(op) || as<NthResult>(op); }

size_t bytes_of(const std::vector<Type>& types) {
  return std::accumulate(types.begin(), types.end(), size_t{0},
                         [](size_t sum, const Type& t) { return sum + t.bytes(); });
}

}  // namespace

Cost cost_of(const Op& op, std::span<const Type> operands, const Type& result) {
  if (is_free(op)) return {};
  const Semantics semantics = semantics_of(op, operands, result);
  size_t bytes = bytes_of(result_types(op, operands, result));
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandUse& use = semantics.operands[i];
    if (updates(op, i))  // it is a result, too, of which no more moves than what is set
      bytes -= operands[i].bytes() - static_cast<size_t>(use.updated) * size_of(operands[i].dtype);
    else
      bytes += use.picked ? std::min(operands[i].bytes(), result.bytes()) : operands[i].bytes();
  }
  return {semantics.flops, static_cast<double>(bytes)};
}

Cost cost_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::vector<Type> types = graph.operand_types(id);
  double repeated = 0;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    auto end = node.operands.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(node.operands.begin(), end, node.operands[i]) != end)
      repeated += static_cast<double>(types[i].bytes());
  }
  Cost cost = cost_of(node.op, types, node.type);
  if (cost.bytes > 0) cost.bytes -= repeated;
  return cost;
}

double floor_seconds(const Cost& cost, double peak_flops, double peak_bytes_per_second) {
  double computing = peak_flops > 0 ? cost.flops / peak_flops : 0;
  double moving = peak_bytes_per_second > 0 ? cost.bytes / peak_bytes_per_second : 0;
  return std::max(computing, moving);
}

}  // namespace rung

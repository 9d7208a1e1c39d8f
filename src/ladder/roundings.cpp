// Walks from a cast back to the sum that rounds, and forward again with other values.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/roundings.hpp"

#include <algorithm>

#include "passes/integer_values.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung {
namespace {

constexpr double kNoFractions = 0x1p+23;  // beside such a number, f32 keeps no fraction of what is added
constexpr size_t kMostSteps = 16;

bool makes_bytes(const Graph& graph, NodeId id) {
  const auto* cast = graph.as<Cast>(id);
  return cast && passes::is_byte(cast->to) && is_float(graph.type(graph[id].operands[0]).dtype);
}

// Returns whether the node rounds its first operand: x + 1.5 2^23, from which the number is taken again behind it.
bool rounds(const Graph& graph, NodeId id) {
  if (!passes::is_binary(graph, id, BinaryKind::add)) return false;
  const auto number = passes::uniform_value(graph, graph[id].operands[1]);
  return number && *number >= kNoFractions && *number < 2 * kNoFractions;
}

// Returns the operand that goes on being rounded; kNoNode: the op is none that stands behind a rounding.
NodeId rounded_operand(const Graph& graph, NodeId id) {
  const std::vector<NodeId>& operands = graph[id].operands;
  if (graph.as<Select>(id)) return operands[1];
  if (graph.as<Cast>(id) || is_view(graph[id].op)) return operands[0];
  for (const BinaryKind kind : {BinaryKind::add, BinaryKind::sub, BinaryKind::max, BinaryKind::min})
    if (passes::is_binary(graph, id, kind)) return operands[0];
  return kNoNode;
}

// Adds the condition of a select that asks only what the select's value is, such as whether it is NaN.
void add_condition(const Graph& graph, NodeId id, std::vector<NodeId>& steps) {
  if (!graph.as<Select>(id)) return;
  const NodeId condition = graph[id].operands[0], value = graph[id].operands[1];
  if (std::ranges::find(graph[condition].operands, value) != graph[condition].operands.end())
    steps.push_back(condition);
}

// Returns the steps to the bytes; none: no rounding is found.
std::vector<NodeId> steps_to(const Graph& graph, NodeId bytes) {
  std::vector<NodeId> steps;
  for (NodeId id = bytes; id != kNoNode && steps.size() < kMostSteps; id = rounded_operand(graph, id)) {
    steps.push_back(id);
    if (rounds(graph, id)) {
      std::ranges::reverse(steps);
      return steps;
    }
    add_condition(graph, id, steps);
  }
  return {};
}

}  // namespace

bool rounds_to_bytes(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) { return makes_bytes(graph, id); });
}

Result<std::vector<Rounding>> roundings_of(const Graph& graph) {
  const std::vector<bool> constant = constant_nodes(graph);
  std::vector<Rounding> found;
  for (NodeId id : graph.order()) {
    if (!makes_bytes(graph, id) || constant[id]) continue;
    Rounding rounding{.steps = steps_to(graph, id)};
    if (rounding.steps.empty())
      return fail("'{}' becomes {}, wanted a sum with 1.5 2^23, limits and a cast", graph[id].label, graph.type(id));
    rounding.value = graph[rounding.steps.front()].operands[0];
    found.push_back(std::move(rounding));
  }
  return found;
}

const Tensor& value_in(const Rounding& rounding, const StepOperands& operands) {
  return operands.at(rounding.steps.front())[0];
}

Result<Tensor> rounded(const Graph& graph, const Rounding& rounding, const StepOperands& operands,
                       const Tensor& value) {
  std::map<NodeId, Tensor> made{{rounding.value, value}};
  for (const NodeId step : rounding.steps) {
    std::vector<Tensor> read = operands.at(step);
    for (size_t i = 0; i < read.size(); ++i)
      if (const auto other = made.find(graph[step].operands[i]); other != made.end()) read[i] = other->second;
    RUNG_TRY(std::vector<Tensor> results, evaluate_results(graph[step].op, read, graph.type(step)));
    made.insert_or_assign(step, std::move(results[0]));
  }
  return made.at(rounding.bytes());
}

}  // namespace rung

// Checks the graph's invariants, one node at a time.
// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.hpp"

#include <algorithm>
#include <set>

namespace rung {
namespace {

std::string describe(const Graph& graph, NodeId id) {
  return fmt::format("node {} ({} '{}')", id, name_of(graph[id].op), graph[id].label);
}

Status check_operands(const Graph& graph, NodeId id, const std::vector<bool>& seen) {
  for (NodeId operand : graph[id].operands) {
    if (operand >= graph.capacity() || !graph[operand].alive)
      return fail("{} reads a node that is gone", describe(graph, id));
    if (!seen[operand]) return fail("{} reads {} before it is computed", describe(graph, id), describe(graph, operand));
  }
  return {};
}

Status check_type(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (graph.is_constant(id)) {
    const auto& weight = graph.weight(id);
    if (!(weight->type() == node.type))
      return fail("{} is {} but its weight is {}", describe(graph, id), node.type, weight->type());
    return {};
  }
  if (graph.as<Input>(id)) return {};
  auto type = graph.infer(node.op, node.operands);
  if (!type) return fail_in(type.error(), "{}", describe(graph, id));
  if (!(*type == node.type)) return fail("{} is {} but its op gives {}", describe(graph, id), node.type, *type);
  return {};
}

Status check_use_counts(const Graph& graph) {
  std::vector<size_t> uses(graph.capacity()), listed(graph.capacity());
  for (NodeId id : graph.order()) {
    for (NodeId operand : graph[id].operands) ++uses[operand];
    listed[id] = graph[id].users.size();
  }
  for (NodeId id : graph.order())
    if (uses[id] != listed[id]) return fail("{} lists {} uses but has {}", describe(graph, id), listed[id], uses[id]);
  return {};
}

Status check_names(const Graph& graph) {
  std::set<std::string> inputs, outputs;
  for (NodeId id : graph.inputs())
    if (!inputs.insert(graph.as<Input>(id)->name).second)
      return fail("two inputs are named '{}'", graph.as<Input>(id)->name);
  for (const Output& output : graph.outputs()) {
    if (!outputs.insert(output.name).second) return fail("two outputs are named '{}'", output.name);
    if (!graph[output.node].alive) return fail("output '{}' is a node that is gone", output.name);
  }
  if (outputs.empty()) return fail("the graph has no outputs");
  return {};
}

Status check_state(const Graph& graph, const State& state) {
  const NodeId input = graph.input_named(state.input);
  const auto next = std::ranges::find(graph.outputs(), state.next, &Output::name);
  if (input == kNoNode) return fail("state '{}' is not an input", state.input);
  if (next == graph.outputs().end()) return fail("state '{}': there is no output '{}'", state.input, state.next);
  const Type& type = graph.type(input);
  if (!(graph.type(next->node) == type))
    return fail("state '{}': got {} for '{}', wanted {}", state.input, graph.type(next->node), state.next, type);
  if (state.initial && !(state.initial->type() == type))
    return fail("state '{}': got an initial value of {}, wanted {}", state.input, state.initial->type(), type);
  return {};
}

Status check_states(const Graph& graph) {
  std::set<std::string_view> names;
  for (const State& state : graph.states()) {
    RUNG_CHECK(check_state(graph, state));
    if (!names.insert(state.input).second) return fail("two states are named '{}'", state.input);
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
  std::vector<bool> seen(graph.capacity());
  for (NodeId id : graph.order()) {
    RUNG_CHECK(check_operands(graph, id, seen));
    RUNG_CHECK(check_type(graph, id));
    seen[id] = true;
  }
  RUNG_CHECK(check_use_counts(graph));
  RUNG_CHECK(check_names(graph));
  return check_states(graph);
}

}  // namespace rung

// Moves a transpose from around a write to the reads of a state.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/states.hpp"

#include <algorithm>

#include "import/zeros.hpp"

namespace rung::exported {
namespace {

bool is_zeros(const State& state) {
  if (!state.initial) return false;
  const auto value = state.initial->load();
  if (!value) return false;
  const std::span bytes(value->data(), value->bytes());
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

NodeId next_of(const Graph& graph, const State& state) {
  return std::ranges::find(graph.outputs(), state.next, &Output::name)->node;
}

// Returns the scatter between two transposes that undo each other; kNoNode: the state is not written so.
NodeId write_of(const Graph& graph, const State& state) {
  const NodeId next = next_of(graph, state);
  const auto* back = graph.as<Transpose>(next);
  if (!back) return kNoNode;
  const NodeId scatter = graph[next].operands[0];
  if (!graph.as<Scatter>(scatter)) return kNoNode;
  const NodeId rows = graph[scatter].operands[0];
  const auto* there = graph.as<Transpose>(rows);
  if (!there || graph[rows].operands[0] != graph.input_named(state.input)) return kNoNode;
  for (int axis = 0; axis < there->permutation.rank(); ++axis)
    if (there->permutation[static_cast<int>(back->permutation[axis])] != axis) return kNoNode;
  return scatter;
}

void keep_rows_first(Graph& graph, State& state, NodeId scatter) {
  const Transpose back = *graph.as<Transpose>(next_of(graph, state));
  const NodeId old = graph.input_named(state.input);
  NodeId as_read = kNoNode;
  {
    const Insertion before(graph, old);
    as_read = graph.add(back, {graph.input(state.input, graph.type(scatter))}, state.input);
  }
  graph.replace_uses(old, as_read);
  graph.erase(old);
  graph.set_output(state.next, scatter);
  state.initial = std::make_shared<Zeros>(state.input, graph.type(scatter));
}

}  // namespace

void add_states(Graph& graph, std::vector<State> states) {
  for (State& state : states) {
    const NodeId scatter = write_of(graph, state);
    if (scatter != kNoNode && is_zeros(state)) keep_rows_first(graph, state, scatter);
    graph.add_state(std::move(state));
  }
}

}  // namespace rung::exported

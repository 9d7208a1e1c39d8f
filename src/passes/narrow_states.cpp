// Keeps states in the type in which everyone reads them. A cache whose every value was rounded as it was read holds the
// rounded ones instead: the same values from half the memory, and no run rounds all of them again.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/words.hpp"
#include "passes/narrowed_state.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool is_view(const Graph& graph, NodeId id) {
  return graph.as<Reshape>(id) || graph.as<Transpose>(id) || graph.as<Slice>(id);
}

// Returns the narrower type to which every reader of a value, or of a view of it, casts it; nullopt: there is none.
std::optional<DType> read_type(const Graph& graph, NodeId id) {
  std::optional<DType> read;
  for (const NodeId user : graph[id].users) {
    const auto* cast = graph.as<Cast>(user);
    if (!cast && (!is_view(graph, user) || graph.is_output(user))) return std::nullopt;
    const std::optional<DType> one = cast ? cast->to : read_type(graph, user);
    if (!one || (read && *read != *one)) return std::nullopt;
    read = one;
  }
  const bool narrows = read && is_float(*read) && size_of(*read) < size_of(graph.type(id).dtype);
  return narrows ? read : std::nullopt;
}

// Makes the readers of `wide` read `narrow`, which has the type of their casts.
void read_narrow(Graph& graph, NodeId wide, NodeId narrow) {
  for (const NodeId user : std::vector<NodeId>(graph[wide].users)) {
    if (!graph[user].alive) continue;  // it read the value twice
    if (graph.as<Cast>(user)) {
      replace_with(graph, user, narrow);
      continue;
    }
    Insertion here(graph, user);
    read_narrow(graph, user, graph.add(graph[user].op, {narrow}, graph[user].label));
    graph.erase(user);
  }
}

// next = scatter(state, places, rows), which all readers cast  =>  next = scatter(narrow state, places, cast(rows))
//   nothing else reads the state or its next value
bool narrow(Graph& graph, const State& state) {
  const auto written = written_rows(graph, state);
  const auto dtype = written ? read_type(graph, written->next) : std::nullopt;
  if (!dtype) return false;
  Insertion here(graph, written->next);
  const NodeId narrowed = narrow_rows(graph, written->next, *dtype);
  read_narrow(graph, written->next, narrowed);
  erase_unused(graph, written->next);
  return true;
}

}  // namespace

Status narrow_states(Graph& graph, PassContext& context) {
  size_t narrowed = 0;
  for (const State& state : std::vector<State>(graph.states())) narrowed += narrow(graph, state);
  if (narrowed)
    context.notes.add("{} kept in the type that its readers read", words::counted(narrowed, "state is", "states are"));
  return {};
}

}  // namespace rung::passes

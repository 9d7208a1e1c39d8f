// Drops work on indices whose outcome their ranges settle: the guards of indices that are never negative, and look-ups
// that always find the same row.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// The least and the greatest value of an integer tensor. Both stay within kLargest, so that their sums and products
// overflow neither here nor at run time.
struct Range {
  int64_t first = 0, last = 0;
};
constexpr int64_t kLargest = INT32_MAX;

std::optional<Range> bounded(__int128 first, __int128 last) {
  if (first > last) std::swap(first, last);
  if (first < -kLargest || last > kLargest) return std::nullopt;
  return Range{static_cast<int64_t>(first), static_cast<int64_t>(last)};
}

std::optional<Range> hull(std::optional<Range> a, std::optional<Range> b) {
  if (!a || !b) return std::nullopt;
  return Range{std::min(a->first, b->first), std::max(a->last, b->last)};
}

class Ranges {
 public:
  explicit Ranges(const Graph& graph) : graph_(graph) {}

  std::optional<Range> of(NodeId id) {
    if (const auto it = known_.find(id); it != known_.end()) return it->second;
    known_[id] = std::nullopt;
    return known_[id] = found(id);
  }

 private:
  std::optional<Range> found(NodeId id) {
    const DType dtype = graph_.type(id).dtype;
    if (dtype == DType::boolean) return Range{0, 1};
    if (dtype != DType::i32 && dtype != DType::i64) return std::nullopt;
    if (const auto values = index_values(graph_, id); values && !values->empty()) {
      const auto [least, most] = std::ranges::minmax(*values);
      return bounded(least, most);
    }
    const std::vector<NodeId>& operands = graph_[id].operands;
    if (operands.empty()) return std::nullopt;
    if (graph_.as<Cast>(id) || is_view(graph_[id].op) || graph_.as<Gather>(id)) return of(operands[0]);
    if (graph_.as<Select>(id)) return hull(of(operands[1]), of(operands[2]));
    if (const auto* cumulative = graph_.as<CumSum>(id)) {
      const auto x = of(operands[0]);
      const int64_t most = graph_.shape(id)[axis_in(graph_, operands[0], cumulative->axis)];
      return x ? hull(x, bounded(__int128{x->first} * most, __int128{x->last} * most)) : std::nullopt;
    }
    if (const auto* binary = graph_.as<Binary>(id)) return of_binary(binary->kind, of(operands[0]), of(operands[1]));
    return std::nullopt;
  }

  static std::optional<Range> of_binary(BinaryKind kind, std::optional<Range> a, std::optional<Range> b) {
    if (!a || !b) return std::nullopt;
    if (kind == BinaryKind::add) return bounded(__int128{a->first} + b->first, __int128{a->last} + b->last);
    if (kind == BinaryKind::sub) return bounded(__int128{a->first} - b->last, __int128{a->last} - b->first);
    if (kind != BinaryKind::mul) return std::nullopt;
    const auto ends = {__int128{a->first} * b->first, __int128{a->first} * b->last, __int128{a->last} * b->first,
                       __int128{a->last} * b->last};
    return bounded(std::min(ends), std::max(ends));
  }

  const Graph& graph_;
  std::map<NodeId, std::optional<Range>> known_;
};

// select(lt(x, 0), y, x)  =>  x      x is never negative
bool drop_guard(Graph& graph, NodeId id, Ranges& ranges) {
  if (!graph.as<Select>(id)) return false;
  const std::vector<NodeId>& operands = graph[id].operands;
  const NodeId condition = operands[0], x = operands[2];
  const auto* compared = graph.as<Binary>(condition);
  if (!compared || compared->kind != BinaryKind::lt || graph[condition].operands[0] != x) return false;
  if (uniform_value(graph, graph[condition].operands[1]) != 0.0 || graph.type(x) != graph.type(id)) return false;
  const auto range = ranges.of(x);
  return range && range->first >= 0 && replace_with(graph, id, x);
}

// Returns whether another look-up by the same indices, in a table that is no longer, reports those that are out of
// range.
bool is_checked_elsewhere(const Graph& graph, NodeId gather) {
  const auto rows = [&](NodeId id) {
    return graph.shape(graph[id].operands[0])[axis_in(graph, graph[id].operands[0], graph.as<Gather>(id)->axis)];
  };
  const NodeId indices = graph[gather].operands[1];
  return std::ranges::any_of(graph[indices].users, [&](NodeId user) {
    return user != gather && graph.as<Gather>(user) && graph[user].operands[1] == indices &&
           graph[user].operands[0] != indices && rows(user) <= rows(gather);
  });
}

// gather(table, indices)  =>  broadcast(number)      each element of the table is that number
bool gather_of_one_number(Graph& graph, NodeId id) {
  if (!graph.as<Gather>(id) || !is_checked_elsewhere(graph, id)) return false;
  const NodeId table = graph[id].operands[0];
  const DType dtype = graph.type(table).dtype;
  const auto value = uniform_value(graph, table);
  if (!value || (dtype != DType::i64 && dtype != DType::i32)) return false;
  Insertion here(graph, id);
  const Tensor number = convert(Tensor::of<int64_t>({}, {static_cast<int64_t>(*value)}), dtype);
  const NodeId literal = graph.literal(graph[id].label, number);
  return replace_with(graph, id, graph.add(Broadcast{graph.shape(id)}, {literal}, graph[id].label));
}

// gather(table, broadcast(number))  =>  broadcast(the table's row)      the number is a row of the table
bool gather_of_one_row(Graph& graph, NodeId id) {
  const auto* gather = graph.as<Gather>(id);
  if (!gather || !graph.as<Broadcast>(graph[id].operands[1])) return false;
  const NodeId table = graph[id].operands[0];
  const int axis = axis_in(graph, table, gather->axis);
  const auto row = uniform_value(graph, graph[id].operands[1]);
  if (!row || *row < 0 || *row >= static_cast<double>(graph.shape(table)[axis]) || axis != 0) return false;
  Insertion here(graph, id);
  const auto begin = static_cast<int64_t>(*row);
  const NodeId found = graph.add(Slice{0, begin, begin + 1, 1}, {table}, graph[id].label);
  Shape rest = graph.shape(table);
  rest.erase(0);
  const NodeId flat = reshaped(graph, found, rest, graph[id].label);
  return replace_with(graph, id, graph.add(Broadcast{graph.shape(id)}, {flat}, graph[id].label));
}

}  // namespace

Status simplify_indices(Graph& graph, PassContext& context) {
  Ranges ranges(graph);
  size_t guards = 0, rows = 0;
  for_each_node(graph, [&](NodeId id) {
    if (drop_guard(graph, id, ranges))
      ++guards;
    else
      rows += gather_of_one_number(graph, id) || gather_of_one_row(graph, id);
  });
  if (guards) context.notes.add("{} of indices that are never negative went", words::counted(guards, "guard"));
  if (rows) context.notes.add("{} always found the same", words::counted(rows, "look-up"));
  return {};
}

}  // namespace rung::passes

// Recognises the views between a projection and the rotary embedding of its heads.
// SPDX-License-Identifier: Apache-2.0
#include "passes/rotated_columns.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {

std::optional<RotatedColumns> columns_of_heads(const Graph& graph, NodeId heads) {
  if (!graph.as<Reshape>(heads)) return std::nullopt;
  NodeId columns = graph[heads].operands[0];
  const Shape &shape = graph.shape(heads), &rows = graph.shape(columns);
  bool whole_rows = shape.rank() == rows.rank() + 1 && shape.back() * shape.back(1) == rows.back();
  for (int i = 0; whole_rows && i + 1 < rows.rank(); ++i) whole_rows = shape[i] == rows[i];
  if (!whole_rows) return std::nullopt;
  const auto* slice = graph.as<Slice>(columns);
  if (!slice) return RotatedColumns{columns, heads, 0, rows.back()};
  if (slice->step != 1 || axis_in(graph, columns, slice->axis) != rows.rank() - 1) return std::nullopt;
  return RotatedColumns{graph[columns].operands[0], columns, slice->begin, slice->end};
}

std::optional<RotatedColumns> rotated_columns(const Graph& graph, NodeId rope) {
  return columns_of_heads(graph, graph[rope].operands[0]);
}

bool one_angle_for_all_heads(const Graph& graph, NodeId rope) {
  for (size_t i : {1, 2}) {
    const Shape& angles = graph.shape(graph[rope].operands[i]);
    if (angles.rank() >= 2 && angles.back(1) != 1) return false;
  }
  return true;
}

}  // namespace rung::passes

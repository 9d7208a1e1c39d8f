// Multiplies runs of rows or columns by one small matrix.
// SPDX-License-Identifier: Apache-2.0
#include "passes/rotations.hpp"

#include <bit>
#include <cmath>

#include "passes/channel_constants.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

Tensor hadamard(int64_t n) {
  std::vector<float> values;
  const auto size = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  for (uint64_t row = 0; row < static_cast<uint64_t>(n); ++row)
    for (uint64_t column = 0; column < static_cast<uint64_t>(n); ++column)
      values.push_back(std::popcount(row & column) % 2 ? -size : size);
  return Tensor::of<float>({n, n}, values);
}

NodeId apart(Graph& graph, NodeId x, const Shape& shape) {
  return reshaped(graph, cast_to(graph, x, DType::f32), shape);
}
// Returns a value in the shape and type of x.
NodeId as(Graph& graph, NodeId x, NodeId value) {
  return cast_to(graph, reshaped(graph, value, graph.shape(x)), graph.type(x).dtype);
}

}  // namespace

NodeId rotation_of(Graph& graph, int64_t channels) {
  const int64_t run = channels & -channels;
  return run > 1 ? graph.literal("rotation", hadamard(run)) : kNoNode;
}

NodeId with_rotated_rows(Graph& graph, NodeId x, const ChannelRows& rows, NodeId rotation) {
  const NodeId some = rows_of(graph, x, rows.begin, rows.end);
  const int64_t run = graph.shape(rotation)[0], columns = graph.type(some).elements() / rows.count();
  const NodeId runs = apart(graph, some, {rows.count() / run, run, columns});
  return with_rows(graph, x, rows, as(graph, some, graph.add(MatMul{}, {rotation, runs}, graph[x].label)));
}

NodeId with_rotated_columns(Graph& graph, NodeId x, NodeId rotation) {
  const int64_t run = graph.shape(rotation)[0];
  const NodeId runs = apart(graph, x, {graph.type(x).elements() / run, run});
  return as(graph, x, graph.add(MatMul{}, {runs, rotation}, graph[x].label));
}

}  // namespace rung::passes

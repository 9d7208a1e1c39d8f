// Multiplies by the small matrices of which a large one is the Kronecker product: 48 flops for each number instead of
// 8192 where 4096 channels are mixed.
// SPDX-License-Identifier: Apache-2.0
#include "passes/rotations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "passes/channel_constants.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kLargestFactor = 16;

Tensor hadamard(int64_t n) {
  std::vector<float> values;
  const auto size = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  for (uint64_t row = 0; row < static_cast<uint64_t>(n); ++row)
    for (uint64_t column = 0; column < static_cast<uint64_t>(n); ++column)
      values.push_back(std::popcount(row & column) % 2 ? -size : size);
  return Tensor::of<float>({n, n}, values);
}

// Rotates runs along an axis behind which there are `inner` elements.
NodeId rotated(Graph& graph, NodeId x, int64_t run, int64_t inner) {
  NodeId value = cast_to(graph, x, DType::f32);
  for (int64_t left = run; left > 1;) {
    const int64_t factor = std::min(left, kLargestFactor);
    const int64_t outer = graph.type(x).elements() / (factor * inner);
    const NodeId matrix = graph.literal("rotation", hadamard(factor));  // equal to its transpose
    const Shape shape = inner == 1 ? Shape{outer, factor} : Shape{outer, factor, inner};
    std::vector<NodeId> operands{matrix, reshaped(graph, value, shape)};
    if (inner == 1)
      std::swap(operands[0], operands[1]);  // one product, where a batch would copy the matrix for each run
    value = graph.add(MatMul{}, std::move(operands), graph[x].label);
    left /= factor, inner *= factor;
  }
  return cast_to(graph, reshaped(graph, value, graph.shape(x)), graph.type(x).dtype);
}

}  // namespace

int64_t rotated_run(int64_t channels) { return channels & -channels; }

NodeId with_rotated_rows(Graph& graph, NodeId x, const ChannelRows& rows, int64_t run) {
  const NodeId some = rows_of(graph, x, rows.begin, rows.end);
  return with_rows(graph, x, rows, rotated(graph, some, run, graph.type(some).elements() / rows.count()));
}

NodeId with_rotated_columns(Graph& graph, NodeId x, int64_t run) { return rotated(graph, x, run, 1); }

}  // namespace rung::passes

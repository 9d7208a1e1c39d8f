// Interpolation is linear in the table: a product with a matrix of weights, which is known at import.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/position_resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace rung::huggingface {
namespace {

const std::string kResized = "embeddings.resized_positions";

// Returns the weights of the points at distance 1 + t, t, 1 - t and 2 - t. Source: R. Keys, "Cubic convolution
// interpolation for digital image processing", 1981.
std::array<double, 4> cubic_weights(double t) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

// Returns [to,from]: what each old point adds to each new one.
std::vector<double> resizing(int64_t from, int64_t to) {
  std::vector<double> matrix(static_cast<size_t>(from * to));
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double place = (static_cast<double>(i) + 0.5) * scale - 0.5, whole = std::floor(place);
    const auto weights = cubic_weights(place - whole);
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t source = std::clamp<int64_t>(static_cast<int64_t>(whole) - 1 + k, 0, from - 1);
      matrix[static_cast<size_t>(i * from + source)] += weights[static_cast<size_t>(k)];
    }
  }
  return matrix;
}

// Returns f32[new patches,old patches].
Tensor resizing_of_grid(const Grid& from, const Grid& to) {
  const auto rows = resizing(from.rows, to.rows), columns = resizing(from.columns, to.columns);
  Tensor both({DType::f32, {to.rows * to.columns, from.rows * from.columns}});
  auto values = both.as<float>().begin();
  for (int64_t y = 0; y < to.rows; ++y)
    for (int64_t x = 0; x < to.columns; ++x)
      for (int64_t v = 0; v < from.rows; ++v)
        for (int64_t u = 0; u < from.columns; ++u)
          *values++ = static_cast<float>(rows[static_cast<size_t>(y * from.rows + v)] *
                                         columns[static_cast<size_t>(x * from.columns + u)]);
  return both;
}

}  // namespace

NodeId resize_positions(GraphBuilder& builder, NodeId positions, const Grid& from, const Grid& to) {
  if (from == to) return positions;
  const Type type = builder.graph.type(positions);
  const int64_t end = type.shape[1], width = type.shape[2];
  const NodeId first = builder.op(Slice{.axis = 1, .begin = 0, .end = 1}, {positions}, kResized);
  NodeId table = builder.op(Slice{.axis = 1, .begin = 1, .end = end}, {positions}, kResized);
  table = builder.cast(builder.reshape(table, {end - 1, width}, kResized), DType::f32, kResized);
  const NodeId matrix = builder.graph.literal(kResized + ".weights", resizing_of_grid(from, to));
  table = builder.cast(builder.op(MatMul{}, {matrix, table}, kResized), type.dtype, kResized);
  table = builder.reshape(table, {1, to.rows * to.columns, width}, kResized);
  return builder.op(Concat{.axis = 1}, {first, table}, kResized);
}

}  // namespace rung::huggingface

// Looks a table of biases up by distances.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/relative_bias.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rung::huggingface {

// The logarithm is computed in f32, as the published library does.
int64_t RelativePositions::row_of(int64_t query, int64_t key) const {
  const int64_t half = looks_ahead ? buckets / 2 : buckets, exact = half / 2;
  const int64_t side = looks_ahead && key > query ? half : 0;
  const int64_t distance = looks_ahead ? std::abs(key - query) : std::max<int64_t>(query - key, 0);
  if (distance < exact) return side + distance;
  const auto range = static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(exact)));
  const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) / range;
  const auto grown = static_cast<int64_t>(part * static_cast<float>(half - exact));
  return side + std::min(exact + grown, half - 1);
}

// f32[heads,buckets]
NodeId RelativeBias::rows() {
  const std::string weight = table_.tensor("weight");
  const Shape shape{positions_.buckets, heads_};
  const NodeId table = w_.weight(weight, shape, w_.stored_dtype(weight, shape));
  return w_.cast(w_.swap_axes(table, 0, 1, table_.label), DType::f32, table_.label);
}

// f32[heads,N], i64[S,K] -> f32[1,heads,S,K]
NodeId RelativeBias::at(NodeId rows, NodeId ids) {
  const Shape shape = w_.graph.shape(ids);
  const NodeId found = w_.op(Gather{.axis = 1}, {rows, ids}, table_.label);
  return w_.reshape(found, {1, heads_, shape[0], shape[1]}, table_.label);
}

NodeId RelativeBias::among(int64_t places) {
  Tensor ids({DType::i64, {places, places}});
  const auto values = ids.as<int64_t>();
  for (int64_t i = 0; i < places; ++i)
    for (int64_t j = 0; j < places; ++j) values[static_cast<size_t>(i * places + j)] = positions_.row_of(i, j);
  return at(rows(), w_.graph.literal(table_.label + ".buckets", std::move(ids)));
}

// Column slots - 1 + d is for a key d places before its query, and the columns before it are for keys behind it.
NodeId RelativeBias::behind(NodeId position, int64_t chunk, int64_t slots) {
  Tensor by_distance({DType::i64, {slots}}), columns({DType::i64, {chunk, slots}});
  for (int64_t d = 0; d < slots; ++d) by_distance.as<int64_t>()[static_cast<size_t>(d)] = positions_.row_of(d, 0);
  for (int64_t i = 0; i < chunk; ++i)
    for (int64_t j = 0; j < slots; ++j) columns.as<int64_t>()[static_cast<size_t>(i * slots + j)] = slots - 1 + i - j;
  const std::string& label = table_.label;
  NodeId all = w_.op(Gather{.axis = 1}, {rows(), w_.graph.literal(label + ".buckets", std::move(by_distance))}, label);
  if (slots > 1) {
    const NodeId none = w_.scalar(-std::numeric_limits<double>::infinity(), DType::f32);
    all = w_.op(Concat{.axis = 1}, {w_.op(Broadcast{{heads_, slots - 1}}, {none}, label), all}, label);
  }
  const NodeId from_first = w_.graph.literal(label + ".columns", std::move(columns));
  return at(all, w_.binary(BinaryKind::add, from_first, position, label));
}

}  // namespace rung::huggingface

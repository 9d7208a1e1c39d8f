// Writes the constants in the graph's own ops.
// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_constants.hpp"

#include <algorithm>
#include <cmath>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr float kMostExponent = 30;  // of a factor: numbers of 16 and 32 bits have room for it
constexpr float kSmallest = 1e-30f;  // stands for columns of zeros, which have no logarithm

NodeId number(Graph& graph, float value) { return graph.literal("number", Tensor::of<float>({}, {value})); }
NodeId binary(Graph& graph, BinaryKind kind, NodeId a, NodeId b) {
  return graph.add(Binary{kind}, {a, b}, graph[a].label);
}
NodeId unary(Graph& graph, UnaryKind kind, NodeId x) { return graph.add(Unary{kind}, {x}, graph[x].label); }
NodeId largest_along(Graph& graph, NodeId x, int64_t axis) {
  return graph.add(Reduce{.kind = ReduceKind::max, .axis = axis}, {x}, graph[x].label);
}

NodeId log2_times(Graph& graph, NodeId x, double times) {
  const NodeId logarithm = unary(graph, UnaryKind::log, binary(graph, BinaryKind::max, x, number(graph, kSmallest)));
  return binary(graph, BinaryKind::mul, logarithm, number(graph, static_cast<float>(times / std::log(2.0))));
}

}  // namespace

NodeId SharedChannels::largest(Graph& graph, NodeId channels) const {
  if (shared == 1) return channels;
  const int64_t own = graph.shape(channels)[0] / shared;
  const NodeId apart = reshaped(graph, channels, {own / width, shared, width});
  return reshaped(graph, largest_along(graph, apart, 1), {own});
}
NodeId SharedChannels::repeated(Graph& graph, NodeId own) const {
  if (shared == 1) return own;
  const int64_t groups = graph.shape(own)[0] / width;
  const NodeId apart = reshaped(graph, own, {groups, 1, width});
  const NodeId beside = graph.add(Broadcast{{groups, shared, width}}, {apart}, graph[own].label);
  return reshaped(graph, beside, {groups * shared * width});
}

NodeId sizes_of_x(Graph& graph, std::vector<float> largest) {
  float smallest = INFINITY;
  for (const float x : largest)
    if (x > 0) smallest = std::min(smallest, x);
  for (float& x : largest)
    if (!(x > 0)) x = std::isfinite(smallest) ? smallest : 1;
  const auto channels = static_cast<int64_t>(largest.size());
  return graph.literal("channels", Tensor::of<float>({channels}, largest));
}
NodeId sizes_of_columns(Graph& graph, NodeId w) {
  return largest_along(graph, unary(graph, UnaryKind::abs, cast_to(graph, w, DType::f32)), 0);
}

NodeId smoothing_factors(Graph& graph, NodeId x, NodeId w, double alpha) {
  NodeId exponent = binary(graph, BinaryKind::sub, log2_times(graph, x, alpha), log2_times(graph, w, 1 - alpha));
  exponent = binary(graph, BinaryKind::max, exponent, number(graph, -kMostExponent));
  exponent = binary(graph, BinaryKind::min, exponent, number(graph, kMostExponent));
  // A cast drops the fraction of what is positive.
  const NodeId positive = binary(graph, BinaryKind::add, exponent, number(graph, kMostExponent + 0.5f));
  const NodeId whole = cast_to(graph, cast_to(graph, positive, DType::i64), DType::f32);
  exponent = binary(graph, BinaryKind::sub, whole, number(graph, kMostExponent));
  const NodeId two = graph.add(Broadcast{graph.shape(exponent)}, {number(graph, 2)}, graph[w].label);
  return binary(graph, BinaryKind::pow, two, exponent);
}

NodeId times_channels(Graph& graph, NodeId x, NodeId s) {
  return binary(graph, BinaryKind::mul, x, cast_to(graph, s, graph.type(x).dtype));
}
NodeId over_channels(Graph& graph, NodeId x, NodeId s) {
  return times_channels(graph, x, unary(graph, UnaryKind::reciprocal, s));
}

NodeId rows_of(Graph& graph, NodeId x, int64_t begin, int64_t end) {
  if (begin == 0 && end == graph.shape(x)[0]) return x;
  return graph.add(Slice{.axis = 0, .begin = begin, .end = end}, {x}, graph[x].label);
}
NodeId with_rows(Graph& graph, NodeId x, const ChannelRows& rows, NodeId by) {
  const int64_t end = graph.shape(x)[0];
  std::vector<NodeId> parts;
  if (rows.begin > 0) parts.push_back(rows_of(graph, x, 0, rows.begin));
  parts.push_back(by);
  if (rows.end < end) parts.push_back(rows_of(graph, x, rows.end, end));
  return parts.size() == 1 ? by : graph.add(Concat{0}, std::move(parts), graph[x].label);
}

}  // namespace rung::passes

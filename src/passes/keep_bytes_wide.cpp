// Leaves out bytes that are only widened again: values that are rounded to a scale's steps and computed with in floats.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/words.hpp"
#include "passes/byte_rounding.hpp"
#include "passes/integer_values.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr double kMostSteps = 1 << 21;
constexpr int kMostDepth = 12;  // of sums that are looked through: a graph may be deeper than the call stack

// Returns whether every value is a whole number, an infinity or NaN.
bool is_whole(const Graph& graph, NodeId id, int depth = kMostDepth) {
  if (depth == 0) return false;
  if (const auto number = uniform_value(graph, id))
    return std::abs(*number) <= kMostSteps && *number == std::floor(*number);
  if (rounded_value(graph, id)) return true;
  if (is_view(graph[id].op)) return is_whole(graph, graph[id].operands[0], depth - 1);
  if (graph.as<Cast>(id)) return !is_float(graph.type(graph[id].operands[0]).dtype);
  for (const BinaryKind kind : {BinaryKind::add, BinaryKind::sub, BinaryKind::max, BinaryKind::min})
    if (is_binary(graph, id, kind))
      return is_whole(graph, graph[id].operands[0], depth - 1) && is_whole(graph, graph[id].operands[1], depth - 1);
  return false;
}

// Returns whether every value is a number of the type.
bool fits_bytes(const Graph& graph, NodeId id, DType type) {
  const double least = type == DType::i8 ? -128 : 0, most = least + 255;
  const auto bounded = with_number_for_nan(graph, id, least, most);
  if (!bounded || !is_whole(graph, *bounded)) return false;
  const auto above = beside_number(graph, *bounded, BinaryKind::min, least, most);
  return above && beside_number(graph, *above, BinaryKind::max, least, most);
}

// cast(cast(x, to=u8), to=f32)  =>  x      x has numbers of the type alone; nothing else reads the bytes
bool leave_out(Graph& graph, NodeId id) {
  if (!graph.as<Cast>(id) || graph.type(id).dtype != DType::f32) return false;
  const NodeId bytes = graph[id].operands[0];
  const DType type = graph.type(bytes).dtype;
  if (!graph.as<Cast>(bytes) || !is_byte(type) || !graph.single_use(bytes)) return false;
  const NodeId x = graph[bytes].operands[0];
  return graph.type(x).dtype == DType::f32 && fits_bytes(graph, x, type) && replace_with(graph, id, x);
}

}  // namespace

Status keep_bytes_wide(Graph& graph, PassContext& context) {
  size_t kept = 0;
  for_each_node(graph, [&](NodeId id) { kept += leave_out(graph, id); });
  if (kept) context.notes.add("{} not stored as bytes", words::counted(kept, "value is", "values are"));
  return {};
}

}  // namespace rung::passes

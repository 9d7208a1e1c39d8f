// Follows channels through views to where they are made.
// SPDX-License-Identifier: Apache-2.0
#include "passes/channels.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool is_constant(const std::vector<bool>& constant, NodeId id) { return id < constant.size() && constant[id]; }

// Returns whether the last axis of the one is the last two of the other, heads and the columns of each.
bool merges_heads(const Graph& graph, NodeId reshape, NodeId heads) {
  const Shape &merged = graph.shape(reshape), &apart = graph.shape(heads);
  return graph.as<Attention>(heads) && merged.back() == apart.back() * apart[apart.rank() - 2];
}

// Returns whether weights and bias are constant, and the numbers of their rows are those of the products.
bool has_constant_rows(const Graph& graph, const std::vector<bool>& constant, NodeId linear) {
  const auto* op = graph.as<Linear>(linear);
  if (!op || !op->is_within({LinearSlot::bias, LinearSlot::cos, LinearSlot::sin, LinearSlot::squares})) return false;
  const std::vector<NodeId>& operands = graph[linear].operands;
  const NodeId* bias = op->slots.find(operands, LinearSlot::bias);
  return is_constant(constant, operands[1]) && (!bias || is_constant(constant, *bias));
}

// Returns the first and the end of the columns of a linear's result that a view of it has, from the view's last slice
// of the last axis on; none: it is no such view.
std::optional<ChannelRows> sliced_rows(const Graph& graph, NodeId view) {
  const auto* slice = graph.as<Slice>(view);
  if (!slice) return ChannelRows{view, 0, graph.shape(view).back()};
  const NodeId of = graph[view].operands[0];
  if (axis_in(graph, of, slice->axis) != graph.shape(of).rank() - 1 || slice->step != 1) return std::nullopt;
  return ChannelRows{of, slice->begin, slice->end};
}

// Returns whether all other readers of the linear are slices that see none of these rows.
bool apart_from(const Graph& graph, const ChannelRows& rows, NodeId reader) {
  if (graph.is_output(rows.linear)) return false;
  return std::ranges::all_of(graph[rows.linear].users, [&](NodeId user) {
    if (user == reader) return true;
    const auto other = sliced_rows(graph, user);
    return other && other->linear == rows.linear && (other->end <= rows.begin || other->begin >= rows.end);
  });
}

}  // namespace

bool keeps_channels(const Graph& graph, NodeId view) {
  if (!graph.as<Reshape>(view) && !graph.as<Slice>(view)) return false;
  const NodeId of = graph[view].operands[0];
  if (const auto* slice = graph.as<Slice>(view)) return axis_in(graph, of, slice->axis) != graph.shape(of).rank() - 1;
  return graph.shape(view).rank() > 0 &&
         (graph.shape(view).back() == graph.shape(of).back() || merges_heads(graph, view, of));
}

NodeId channel_source(const Graph& graph, NodeId x) {
  while (keeps_channels(graph, x)) x = graph[x].operands[0];
  return x;
}

NodeId view_on(Graph& graph, std::map<NodeId, NodeId>& moved, NodeId value) {
  if (const auto found = moved.find(value); found != moved.end()) return found->second;
  const NodeId on = view_on(graph, moved, graph[value].operands[0]);
  return moved[value] = graph.add(graph[value].op, {on}, graph[value].label);
}

std::optional<ChannelRows> result_rows(const Graph& graph, const std::vector<bool>& constant, NodeId linear) {
  if (!has_constant_rows(graph, constant, linear)) return std::nullopt;
  const auto& op = *graph.as<Linear>(linear);
  const int64_t rows = graph.shape(linear).back();
  if (op.has(LinearSlot::cos)) return std::nullopt;
  if (op.epilogue.gated) return ChannelRows{linear, rows, 2 * rows};
  const Activation activation = op.epilogue.activation;
  if (activation != Activation::none && activation != Activation::relu) return std::nullopt;
  return ChannelRows{linear, 0, rows};
}

// attention(q, k, v), v = reshape(slice(linear(...)))      the slice may be absent; each is read by the next alone, but
// for the linear, of which others may read other columns
std::optional<ChannelRows> value_rows(const Graph& graph, const std::vector<bool>& constant, NodeId attention) {
  const auto* op = graph.as<Attention>(attention);
  if (!op || op->segments != 1 || op->has_length()) return std::nullopt;
  const NodeId v = graph[attention].operands[op->first_key() + 1];
  const Shape& heads = graph.shape(v);
  if (!graph.as<Reshape>(v) || !graph.single_use(v)) return std::nullopt;
  const NodeId merged = graph[v].operands[0];
  if (graph.shape(merged).back() != heads.back() * heads[heads.rank() - 2]) return std::nullopt;
  const auto rows = sliced_rows(graph, merged);
  if (!rows || !has_constant_rows(graph, constant, rows->linear)) return std::nullopt;
  const auto& linear = *graph.as<Linear>(rows->linear);
  if (linear.epilogue.gated || linear.epilogue.activation != Activation::none) return std::nullopt;
  if (linear.has(LinearSlot::cos)) {
    const int64_t width = graph.shape(graph[rows->linear].operands[linear.slots.before(LinearSlot::cos)]).back();
    if (rows->begin < linear.epilogue.rotated_heads * width) return std::nullopt;
  }
  if (merged != rows->linear && !graph.single_use(merged)) return std::nullopt;
  return apart_from(graph, *rows, merged == rows->linear ? v : merged) ? rows : std::nullopt;
}

}  // namespace rung::passes

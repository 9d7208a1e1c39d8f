// Follows channels through views to where they are made.
// SPDX-License-Identifier: Apache-2.0
#include "passes/channels.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool is_constant(const std::vector<bool>& constant, NodeId id) { return id < constant.size() && constant[id]; }

// Returns whether the node casts one type of floats, of more than 8 bits, to another.
bool is_float_cast(const Graph& graph, NodeId id) {
  const auto is_wide = [&](NodeId value) {
    return is_float(graph.type(value).dtype) && !is_quantised(graph.type(value).dtype);
  };
  return graph.as<Cast>(id) && is_wide(id) && is_wide(graph[id].operands[0]);
}
// Returns whether the last axis of the one is the last two of the other, heads of an attention and the columns of each.
bool merges_heads(const Graph& graph, NodeId reshape, NodeId heads) {
  while (is_float_cast(graph, heads)) heads = graph[heads].operands[0];
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

// Returns the columns of a linear's result that a slice of it has; none: it is no slice of the last axis.
std::optional<ChannelRows> sliced_rows(const Graph& graph, NodeId view) {
  const auto* slice = graph.as<Slice>(view);
  if (!slice) return std::nullopt;
  const NodeId of = graph[view].operands[0];
  if (axis_in(graph, of, slice->axis) != graph.shape(of).rank() - 1 || slice->step != 1) return std::nullopt;
  return ChannelRows{of, slice->begin, slice->end};
}

// Returns whether these rows of a linear are products alone: neither turned nor gated, nor bent by a function.
bool are_plain(const Graph& graph, const ChannelRows& rows) {
  const auto& op = *graph.as<Linear>(rows.linear);
  if (op.epilogue.gated || op.epilogue.activation != Activation::none) return false;
  const NodeId* cos = op.slots.find(graph[rows.linear].operands, LinearSlot::cos);
  return !cos || rows.begin >= op.epilogue.rotated_heads * graph.shape(*cos).back();
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
  if (is_float_cast(graph, view)) return true;
  if (!graph.as<Reshape>(view) && !graph.as<Slice>(view)) return false;
  const NodeId of = graph[view].operands[0];
  if (const auto* slice = graph.as<Slice>(view)) return axis_in(graph, of, slice->axis) != graph.shape(of).rank() - 1;
  if (graph.shape(view).rank() == 0) return false;
  return graph.shape(view).back() == graph.shape(of).back() || merges_heads(graph, view, of);
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

// attention(q, k, v), v = reshape(slice(linear(...)))      with casts between them or none, and perhaps without the
// slice; each is read by the next alone, but for the linear, of which others may read other columns
std::optional<ChannelRows> value_rows(const Graph& graph, const std::vector<bool>& constant, NodeId attention) {
  const auto* op = graph.as<Attention>(attention);
  if (!op || op->segments != 1 || op->has_length()) return std::nullopt;
  NodeId reader = attention, at = graph[attention].operands[op->first_key() + 1];
  const Shape& heads = graph.shape(at);
  const int64_t channels = heads.back() * heads[heads.rank() - 2];
  ChannelRows rows{kNoNode, 0, channels};
  for (bool sliced = false; !graph.as<Linear>(at); reader = at, at = graph[at].operands[0]) {
    const bool splits = graph.as<Reshape>(at) && graph.shape(graph[at].operands[0]).back() == channels;
    const auto some = sliced ? std::nullopt : sliced_rows(graph, at);
    const bool slices = some && some->count() == channels;
    if (!graph.single_use(at) || (!splits && !slices && !is_float_cast(graph, at))) return std::nullopt;
    if (slices) rows = *some, sliced = true;
  }
  rows.linear = at;
  if (!are_plain(graph, rows) || !has_constant_rows(graph, constant, at)) return std::nullopt;
  return apart_from(graph, rows, reader) ? std::optional(rows) : std::nullopt;
}

}  // namespace rung::passes

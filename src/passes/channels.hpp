// The channels that products read: how their value is seen through views, and the rows of weights that make them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace rung::passes {

// Returns whether the node is a view of its operand that keeps the last axis, whose elements are the channels, or a
// cast of it to another type of floats.
bool keeps_channels(const Graph& graph, NodeId view);
// Returns the value behind reshapes and slices; the heads of an attention, merged to channels, end in the attention.
NodeId channel_source(const Graph& graph, NodeId x);

// Returns the view of `by` that `value` is of the source; `moved` begins as {source: by} and remembers views.
NodeId view_on(Graph& graph, std::map<NodeId, NodeId>& moved, NodeId value);

// The rows of a linear's weights, and of its bias, that make the channels which some value has.
struct ChannelRows {
  NodeId linear = kNoNode;
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};

// Returns the rows that make a linear's result, if each of them scales with its row: those without a function that
// bends them, and of a gated product those of the factor without one. Nothing else may be added, and weights must be
// constant. `constant`: constant_nodes().
std::optional<ChannelRows> result_rows(const Graph& graph, const std::vector<bool>& constant, NodeId linear);
// Returns the rows that make the values of an attention of one segment, if nothing but it reads them.
std::optional<ChannelRows> value_rows(const Graph& graph, const std::vector<bool>& constant, NodeId attention);

}  // namespace rung::passes

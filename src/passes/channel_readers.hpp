// The products of 8 bits that read one value, for passes that change its channels and their weights together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "ir/graph.hpp"

namespace rung::passes {

struct ChannelReaders {
  NodeId source = kNoNode;           // channel_source() of what they read
  std::map<NodeId, NodeId> readers;  // linears, and the value or view of the source that each reads as x
  bool alone = true;                 // nothing else reads the source
};

// Returns all values with such readers, in the graph's order; `is_one` says which linears are.
std::vector<ChannelReaders> channel_readers(const Graph& graph, const std::function<bool(NodeId)>& is_one);

}  // namespace rung::passes

// Groups products by what they read, and looks for other readers.
// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_readers.hpp"

#include <algorithm>

#include "passes/channels.hpp"

namespace rung::passes {
namespace {

// Returns whether all that reads the value, itself or through views that keep channels, is among the readers.
bool read_by_these(const Graph& graph, NodeId value, const std::map<NodeId, NodeId>& readers) {
  if (graph.is_output(value)) return false;
  return std::ranges::all_of(graph[value].users, [&](NodeId user) {
    if (keeps_channels(graph, user)) return read_by_these(graph, user, readers);
    const auto found = readers.find(user);
    return found != readers.end() && found->second == value && std::ranges::count(graph[user].operands, value) == 1;
  });
}

}  // namespace

std::vector<ChannelReaders> channel_readers(const Graph& graph, const std::function<bool(NodeId)>& is_one) {
  std::map<NodeId, ChannelReaders> by_source;
  std::vector<NodeId> sources;
  for (const NodeId id : graph.order()) {
    if (!is_one(id)) continue;
    const NodeId x = graph[id].operands[0], source = channel_source(graph, x);
    const auto [found, is_new] = by_source.try_emplace(source);
    if (is_new) found->second.source = source, sources.push_back(source);
    found->second.readers[id] = x;
  }
  std::vector<ChannelReaders> all;
  for (const NodeId source : sources) {
    all.push_back(std::move(by_source[source]));
    all.back().alone = read_by_these(graph, source, all.back().readers);
  }
  return all;
}

}  // namespace rung::passes

// Builds the tree level by level from sorted keys.
// SPDX-License-Identifier: Apache-2.0
#include "text/trie.hpp"

#include <algorithm>

namespace rung::text {

Trie::Trie(std::vector<std::pair<std::string_view, uint32_t>> keys) {
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  struct Range {
    size_t begin, end, depth;  // keys that share their first `depth` bytes
  };
  std::vector<Range> ranges{{0, keys.size(), 0}};  // of each node
  nodes_.emplace_back();
  for (size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    for (; begin < end && keys[begin].first.size() == depth; ++begin) nodes_[node].value = keys[begin].second;
    nodes_[node].edges = static_cast<uint32_t>(bytes_.size());
    while (begin < end) {
      const char byte = keys[begin].first[depth];
      size_t same = begin;
      while (same < end && keys[same].first[depth] == byte) ++same;
      bytes_.push_back(static_cast<uint8_t>(byte));
      targets_.push_back(static_cast<uint32_t>(nodes_.size()));
      nodes_.emplace_back();
      ranges.push_back({begin, same, depth + 1});
      begin = same;
    }
    nodes_[node].edges_end = static_cast<uint32_t>(bytes_.size());
  }
  first_.fill(kNone);
  for (uint32_t edge = nodes_[0].edges; edge < nodes_[0].edges_end; ++edge) first_[bytes_[edge]] = targets_[edge];
}

uint32_t Trie::walk(std::string_view text) const {
  uint32_t node = root();
  for (size_t at = 0; at < text.size() && node != kNone; ++at) node = next(node, text[at]);
  return node;
}

}  // namespace rung::text

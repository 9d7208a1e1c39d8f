// Finds which of many texts another text begins with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::text {

// A tree of bytes. The edges of a node lie side by side, in the order of their bytes.
class Trie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Each key comes with its value; of equal keys, the last one counts.
  explicit Trie(std::vector<std::pair<std::string_view, uint32_t>> keys);

  static constexpr uint32_t root() { return 0; }
  // Returns the node behind that byte, or kNone.
  uint32_t next(uint32_t node, char byte) const {
    const auto wanted = static_cast<uint8_t>(byte);
    if (node == root()) return first_[wanted];
    const Node& from = nodes_[node];
    for (uint32_t edge = from.edges; edge < from.edges_end; ++edge)
      if (bytes_[edge] == wanted) return targets_[edge];
    return kNone;
  }
  // Returns the value of the key that ends at a node, or kNone.
  uint32_t value(uint32_t node) const { return nodes_[node].value; }
  // Returns the node behind all bytes of a text, or kNone.
  uint32_t walk(std::string_view text) const;

 private:
  struct Node {
    uint32_t edges = 0, edges_end = 0, value = kNone;
  };
  std::vector<Node> nodes_;
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> targets_;
  std::array<uint32_t, 256> first_{};  // edges of the root, by byte
};

}  // namespace rung::text

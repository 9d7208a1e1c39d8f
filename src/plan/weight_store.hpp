// Constants in their final layout, shared by the plans alive at once, so that a climb's candidate costs only the
// weights that it lays out differently.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ir/graph.hpp"

namespace rung {

class WeightStore {
 public:
  using Data = std::shared_ptr<const std::byte>;

  // Names the value of a constant node: its ops over its weights. The store keeps those weights (not their contents)
  // alive, so that a name stays unique. Returns none for immediate values, literals and expressions of very many ops.
  std::optional<std::string> name_of(const Graph& graph, NodeId node);
  // Returns null if no plan holds the data any more.
  Data find(const std::string& key) const;
  void add(const std::string& key, const Data& data) { held_[key] = data; }

 private:
  std::map<std::string, std::weak_ptr<const std::byte>, std::less<>> held_;
  std::map<const Weight*, std::shared_ptr<const Weight>> named_;
};

}  // namespace rung

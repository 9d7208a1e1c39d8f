// The rows of every value that are needed, axis by axis, worked out from the outputs back to the inputs in one sweep.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "passes/row_sets.hpp"

namespace rung::passes {

// The rows needed along each axis; elements of the value outside the product of these sets are not read.
struct Demand {
  std::array<RowSet, Dims::kMaxRank> axes{};
  RowSet& operator[](int axis) { return axes[static_cast<size_t>(axis)]; }
  RowSet operator[](int axis) const { return axes[static_cast<size_t>(axis)]; }
  bool is_all() const {
    return std::all_of(axes.begin(), axes.end(), [](RowSet set) { return set == kAllRows; });
  }
  friend bool operator==(const Demand&, const Demand&) = default;
};

class RowDemand {
 public:
  explicit RowDemand(const Graph& graph);

  // Returns the rows that a node is computed for; nothing if no output needs it. An op that cannot work on part of an
  // axis is computed for all its rows.
  const std::optional<Demand>& of(NodeId id) const { return computed_[id]; }
  // Returns the rows that all readers together need, before the op's own limits: of interest for inputs.
  const std::optional<Demand>& wanted(NodeId id) const { return wanted_[id]; }
  // Returns the rows that `id` reads of each operand; nothing for an operand that it does not read at all (a dropped
  // part of a concat).
  std::vector<std::optional<Demand>> reads(NodeId id);
  // Returns whether the node is a slice, or a gather of known ascending rows: once the operand has only the rows that
  // are read, the node is its operand.
  bool is_selection(NodeId id) const;

  RowSets sets;

 private:
  using Reads = std::vector<std::optional<Demand>>;
  Demand limited(NodeId id, Demand demand);
  void want(NodeId id, const Demand& demand);
  std::optional<RowSet> read_axis(const AxisRead& read, int64_t size, RowSet wanted);
  std::optional<Demand> read_operand(NodeId id, const OperandUse& use, NodeId operand);
  Reads read_selection(NodeId id);
  void read_live_keys(NodeId id, Reads& reads);
  bool is_of_live_keys(NodeId id, int axis, const Demand& demand);
  // Returns the keys that a softmax gives any weight, if its scores get a constant mask; kAllRows if it is unknown.
  RowSet live_keys(NodeId weights, RowSet queries);
  RowSet unmasked(NodeId mask, RowSet queries, int64_t keys);

  const Graph& graph_;
  std::vector<std::optional<Demand>> wanted_, computed_;
  std::map<std::pair<NodeId, RowSet>, RowSet> unmasked_;
  std::map<NodeId, std::vector<int64_t>> selections_;
};

}  // namespace rung::passes

// Moves transposes up towards the ops that compute their operands, where most of them meet another and vanish.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

namespace rung::passes {

// A sinker remembers the nodes it built, so that a value with many readers is transposed once. New nodes stand right
// after the nodes that they read.
class TransposeSinker {
 public:
  explicit TransposeSinker(Graph& graph) : graph_(graph) {}
  // Builds transpose(x, permutation), with the transpose moved through casts, rope and RMS norms (their last axis stays
  // last), concat, slices and gathers of whole rows.
  NodeId sink(NodeId x, const Dims& permutation);

 private:
  NodeId build(NodeId x, const Dims& permutation);
  bool can_sink_below(NodeId x, const Semantics& semantics, const Dims& permutation) const;
  NodeId sink_operand(NodeId operand, const Dims& permutation);
  NodeId add_after(NodeId anchor, Op op, std::vector<NodeId> operands);

  Graph& graph_;
  std::map<std::pair<NodeId, std::vector<int64_t>>, NodeId> built_;
};

}  // namespace rung::passes

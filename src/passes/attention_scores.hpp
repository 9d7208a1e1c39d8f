// Reads the scores of an attention, as its author writes them: what is multiplied, scaled, capped, masked and joined.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "base/verdict.hpp"
#include "ir/graph.hpp"

namespace rung::passes {

// A tensor that is added to the scores, times a number; or, where `low` is given, what says which scores are kept or,
// with `hides`, which are not: `low` stands in their place.
struct Mask {
  NodeId values = kNoNode;
  double scale = 1;
  std::optional<double> low = {};
  bool hides = false;
};

struct Scores {
  NodeId q = kNoNode, k_transposed = kNoNode;  // [B,H,S,D], [B,H,D,K]
  std::vector<Mask> masks;
  NodeId extra = kNoNode;  // a score more for each query, [B,H,S,1], of a key without a value; none: no such key
  double softcap = 0;      // 0: none
  double scale = 1;        // after a cap: of its argument
};

// The softmax whose results weigh the values, and how many nodes may read it and its scores.
struct Weights {
  NodeId softmax = kNoNode;
  bool has_extra = false;  // the weight of each query's last key is left out
  size_t readers = 1;
};

NodeId skip_float_casts(const Graph& graph, NodeId x);

// Returns the softmax behind the weights that a product of values reads; none: they come from elsewhere.
std::optional<Weights> weights_behind(const Graph& graph, NodeId x);

// Follows the scores from a softmax down to the product of q and k'.
Verdict trace_scores_of(const Graph& graph, const Weights& weights, Scores& scores);

}  // namespace rung::passes

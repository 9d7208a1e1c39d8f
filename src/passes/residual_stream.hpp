// A residual stream: the sums that products and embeddings add to and RMS norms read, as one set of values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace rung::passes {

struct ResidualStream {
  std::set<NodeId> values;
  std::vector<NodeId> norms;    // that read it: their weights are constant
  std::vector<NodeId> makers;   // linears with constant weights, whose results are added
  std::vector<NodeId> gathers;  // of rows of constant tables
  std::string reason;           // why its channels cannot be mixed; empty: they can
};

// Returns the stream of which a value is a part. `constant`: constant_nodes().
ResidualStream residual_stream(const Graph& graph, const std::vector<bool>& constant, NodeId value);

}  // namespace rung::passes

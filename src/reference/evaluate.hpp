// The judge: a slow, obvious evaluator of graphs. It reads operands exactly, computes in f64 (integers in i64) and
// rounds each op's result once to its dtype; that is what every op means, and what every kernel is compared with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/interrupted.hpp"
#include "ir/graph.hpp"

namespace rung {

struct EvaluateOptions {
  Interrupted interrupted = {};
  // Gets the operands of each node before it is computed, to put others of their types in their place.
  std::function<void(NodeId, std::vector<Tensor>&)> change = {};
};

// One tensor per graph output, in order. Reads the inputs that the outputs need, by name, and ignores others. Weights
// are loaded when first read, and every value is freed after its last use. Errors name the node; interrupted, between
// two nodes.
Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::map<std::string, Tensor, std::less<>>& inputs,
                                     const EvaluateOptions& options = {});

// One op over operands of its types; `result` must be what infer_type gives. All of its results, the first one first.
Result<std::vector<Tensor>> evaluate_results(const Op& op, const std::vector<Tensor>& operands, const Type& result);

// The value of a node that depends on constants only; touches no other node, so its cost is that of the node's own
// ancestry.
Result<Tensor> evaluate_constant(const Graph& graph, NodeId node);

}  // namespace rung

// The judge: a slow, obvious evaluator of graphs. It reads operands exactly, computes in f64 (integers in i64) and
// rounds each op's result once to its dtype; this defines every op, and every kernel is compared with it.
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
  // Called with the operands of each node before it is computed; may replace them by others of the same types.
  std::function<void(NodeId, std::vector<Tensor>&)> change = {};
};

// Returns one tensor per graph output, in order. Reads the inputs that the outputs need, by name, and ignores others.
// Loads weights when they are first read, and frees every value after its last use. Errors name the node; the
// evaluation may be interrupted between two nodes.
Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::map<std::string, Tensor, std::less<>>& inputs,
                                     const EvaluateOptions& options = {});

// Computes one op over operands of its types; `result` is the type from infer_type(). Returns all results in order.
Result<std::vector<Tensor>> evaluate_results(const Op& op, const std::vector<Tensor>& operands, const Type& result);

// Returns the value of a node that depends on constants only; touches only the node's own ancestry, so its cost is that
// of the ancestry.
Result<Tensor> evaluate_constant(const Graph& graph, NodeId node);
// Returns the values of several such nodes, of which no ancestor is computed twice.
Result<std::vector<Tensor>> evaluate_constants(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace rung

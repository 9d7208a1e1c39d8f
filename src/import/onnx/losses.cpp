// Losses of ONNX graphs: what the probability of a class costs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// -x of each target's class, x: [N,C,...], targets: [N,...], input 2: weights of classes, [C]. Targets that
// `ignore_index` names cost nothing.
NodeId loss(const Call& call, NodeId x, NodeId target) {
  if (call.rank(x) < 2 || call.rank(target) != call.rank(x) - 1)
    refuse("targets of {} for {}", call.type(target), call.type(x));
  const std::string reduction = call.text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    refuse("reduction: got '{}', wanted none, sum or mean", reduction);
  const DType type = call.dtype(x);
  NodeId place = call.cast(target, DType::i64);
  std::optional<NodeId> counts;
  if (call.find("ignore_index", AttributeKind::i)) {
    const NodeId ignored = call.scalar(static_cast<double>(call.integer("ignore_index")), DType::i64);
    counts = call.binary(BinaryKind::ne, place, ignored);
    place = call.select(*counts, place, call.scalar(0, DType::i64));
  }
  NodeId cost = call.squeeze(call.gather_elements(call.unary(UnaryKind::neg, x), call.unsqueeze(place, 1), 1), {1});
  const NodeId zero = call.scalar(0, type);
  NodeId weight = call.has(2) ? call.gather(call[2], place, 0) : call.broadcast(call.scalar(1, type), call.shape(cost));
  if (counts) weight = call.select(*counts, weight, zero);
  if (counts) cost = call.select(*counts, cost, zero);
  cost = call.binary(BinaryKind::mul, cost, weight);
  if (reduction == "none") return cost;
  const NodeId sum = call.reduce(ReduceKind::sum, cost, {}, false);
  if (reduction == "sum") return sum;
  return call.binary(BinaryKind::div, sum, call.reduce(ReduceKind::sum, weight, {}, false));
}

}  // namespace

Outputs negative_log_likelihood(const Call& call) { return {loss(call, call[0], call[1])}; }

// The second result is the logarithm of the probabilities.
Outputs softmax_cross_entropy(const Call& call) {
  const NodeId logs = call.log_softmax(call[0], 1);
  return {loss(call, logs, call[1]), logs};
}

}  // namespace rung::onnx::operators

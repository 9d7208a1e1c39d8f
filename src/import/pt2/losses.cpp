// Losses between two tensors, which programs compute beside their answers.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Values reduced(const Call& call, NodeId terms) {
  const int64_t how = call.integer("reduction", kMean);
  if (how < kNone || how > kSum) exported::refuse("reduction: got {}, wanted 0 (none), 1 (mean) or 2 (sum)", how);
  if (how == kNone) return one(terms);
  return one(call.reduce(how == kMean ? ReduceKind::mean : ReduceKind::sum, terms, {}, false));
}

NodeId difference(const Call& call) {
  const auto [a, b] = call.both("self", "target");
  return call.binary(BinaryKind::sub, call.in_floats(a), call.in_floats(b));
}

// Squares up to a size of `edge`, and lines beyond it, which meet there: d^2 / 2, and edge (|d| - edge / 2).
NodeId bent(const Call& call, double edge) {
  const NodeId d = difference(call), size = call.unary(UnaryKind::abs, d);
  const NodeId limit = call.scalar(edge, call.dtype(d));
  const NodeId square = call.scale(call.unary(UnaryKind::square, d), 0.5);
  const NodeId line = call.scale(call.binary(BinaryKind::sub, size, call.scale(limit, 0.5)), edge);
  return call.select(call.binary(BinaryKind::lt, size, limit), square, line);
}

}  // namespace

Values mse_loss(const Call& call) { return reduced(call, call.unary(UnaryKind::square, difference(call))); }
Values l1_loss(const Call& call) { return reduced(call, call.unary(UnaryKind::abs, difference(call))); }
// PyTorch rounds this loss alone to the type of self where the target has another.
Values huber_loss(const Call& call) {
  const NodeId terms = bent(call, call.number("delta", 1));
  return reduced(call, call.cast(terms, call.dtype(call.in_floats(call.tensor("self")))));
}
Values smooth_l1_loss(const Call& call) {
  const double beta = call.number("beta", 1);
  return beta == 0 ? l1_loss(call) : reduced(call, call.scale(bent(call, beta), 1 / beta));
}

}  // namespace rung::pt2::operators

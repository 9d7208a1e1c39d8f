// Steps of optimisers in ONNX graphs: new values of tensors by their gradients.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// Inputs after the rate and the number of steps come in groups: all tensors, their gradients, then each kind of state.
struct Groups {
  const Call& call;
  size_t count;  // of tensors

  Groups(const Call& c, size_t kinds) : call(c), count(c.count() < 2 ? 0 : (c.count() - 2) / kinds) {
    if (count == 0 || c.count() != 2 + kinds * count)
      refuse("got {} inputs, wanted 2 and {} of each", c.count(), kinds);
  }
  NodeId at(size_t kind, size_t i) const { return call[2 + kind * count + i]; }
  NodeId add(NodeId a, NodeId b) const { return call.binary(BinaryKind::add, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return call.binary(BinaryKind::mul, a, b); }
  NodeId plus(NodeId a, double b) const { return add(a, call.scalar(b, call.dtype(a))); }
  // The gradient with that of the squared norm.
  NodeId gradient(size_t i) const { return add(call.scale(at(0, i), call.number("norm_coefficient", 0)), at(1, i)); }
  NodeId steps() const { return call.cast(call[1], DType::f32); }
  NodeId is_first() const { return call.binary(BinaryKind::le, steps(), call.scalar(0, DType::f32)); }
};

NodeId moved(const Groups& of, NodeId x, NodeId rate, NodeId direction) {
  return of.call.binary(BinaryKind::sub, x, of.mul(rate, direction));
}

}  // namespace

Outputs adagrad(const Call& call) {
  const Groups of(call, 3);
  const NodeId slower = of.plus(call.scale(of.steps(), call.number("decay_factor", 0)), 1);
  const NodeId rate = call.binary(BinaryKind::div, call[0], slower);
  Outputs values, sums;
  for (size_t i = 0; i < of.count; ++i) {
    const NodeId g = of.gradient(i);
    sums.push_back(of.add(of.at(2, i), call.unary(UnaryKind::square, g)));
    const NodeId size = of.plus(call.unary(UnaryKind::sqrt, sums.back()), call.number("epsilon", 1e-6));
    values.push_back(moved(of, of.at(0, i), rate, call.binary(BinaryKind::div, g, size)));
  }
  values.insert(values.end(), sums.begin(), sums.end());
  return values;
}

Outputs adam(const Call& call) {
  const Groups of(call, 4);
  const double alpha = call.number("alpha", 0.9f), beta = call.number("beta", 0.999f);
  const auto left = [&](double base) {  // 1 - base^steps
    const NodeId power = call.binary(BinaryKind::pow, call.scalar(base, DType::f32), of.steps());
    return call.binary(BinaryKind::sub, call.scalar(1, DType::f32), power);
  };
  const NodeId corrected =
      of.mul(call[0], call.binary(BinaryKind::div, call.unary(UnaryKind::sqrt, left(beta)), left(alpha)));
  const NodeId rate = call.select(of.is_first(), call[0], corrected);
  Outputs values, means, squares;
  for (size_t i = 0; i < of.count; ++i) {
    const NodeId g = of.gradient(i);
    means.push_back(of.add(call.scale(of.at(2, i), alpha), call.scale(g, 1 - alpha)));
    squares.push_back(of.add(call.scale(of.at(3, i), beta), call.scale(call.unary(UnaryKind::square, g), 1 - beta)));
    const NodeId size = of.plus(call.unary(UnaryKind::sqrt, squares.back()), call.number("epsilon", 1e-6));
    const NodeId x = moved(of, of.at(0, i), rate, call.binary(BinaryKind::div, means.back(), size));
    values.push_back(call.scale(x, 1 - call.number("norm_coefficient_post", 0)));
  }
  values.insert(values.end(), means.begin(), means.end());
  values.insert(values.end(), squares.begin(), squares.end());
  return values;
}

Outputs momentum(const Call& call) {
  const Groups of(call, 3);
  const std::string mode = call.text("mode", "");
  if (mode != "standard" && mode != "nesterov") refuse("mode: got '{}', wanted standard or nesterov", mode);
  const double alpha = call.number("alpha", 0);
  const NodeId one = call.scalar(1, DType::f32);
  const NodeId share = call.select(of.is_first(), one, call.scalar(call.number("beta", 0), DType::f32));
  Outputs values, means;
  for (size_t i = 0; i < of.count; ++i) {
    const NodeId g = of.gradient(i);
    means.push_back(of.add(call.scale(of.at(2, i), alpha), of.mul(g, share)));
    const NodeId ahead = of.add(g, call.scale(means.back(), alpha));
    values.push_back(moved(of, of.at(0, i), call[0], mode == "standard" ? means.back() : ahead));
  }
  values.insert(values.end(), means.begin(), means.end());
  return values;
}

}  // namespace rung::onnx::operators

// Operators of exported programs on vectors and matrices: products by other names, norms, distances.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

NodeId mul(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::mul, a, b); }
NodeId sub(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::sub, a, b); }
NodeId plus(const Call& call, NodeId x, double value) {
  return call.binary(BinaryKind::add, x, call.scalar(value, call.dtype(x)));
}

struct Axes {
  std::vector<int64_t> axes;  // none: all
  bool keep = false;
};

// (sum |x|^p)^(1/p), the largest or the least of |x|, or how many are not 0.
NodeId norm(const Call& call, NodeId x, double p, const Axes& over) {
  const NodeId sizes = call.unary(UnaryKind::abs, x);
  if (std::isinf(p))
    return p > 0 ? call.reduce(ReduceKind::max, sizes, over.axes, over.keep) : call.least(sizes, over.axes, over.keep);
  const auto summed = [&](NodeId terms) { return call.reduce(ReduceKind::sum, terms, over.axes, over.keep); };
  if (p == 0) return summed(call.cast(call.binary(BinaryKind::ne, x, call.scalar(0, call.dtype(x))), call.dtype(x)));
  if (p == 1) return summed(sizes);
  if (p == 2) return call.unary(UnaryKind::sqrt, summed(call.unary(UnaryKind::square, x)));
  const auto raised = [&](NodeId base, double power) {
    return call.binary(BinaryKind::pow, base, call.scalar(power, call.dtype(base)));
  };
  return raised(summed(raised(sizes, p)), 1 / p);
}

Axes axes_of(const Call& call) { return {call.integers("dim", {}), call.flag("keepdim")}; }

// beta self + alpha product
Values added(const Call& call, NodeId product) {
  NodeId self = call.tensor("self");
  if (const double alpha = call.number("alpha", 1); alpha != 1) product = call.scale(product, alpha);
  if (const double beta = call.number("beta", 1); beta != 1) self = call.scale(self, beta);
  return one(call.binary(BinaryKind::add, product, self));
}

}  // namespace

Values mv(const Call& call) { return one(call.matmul(call.tensor("self"), call.tensor("vec"))); }
Values dot(const Call& call) { return one(call.matmul(call.tensor("self"), call.tensor("tensor"))); }
Values vecdot(const Call& call) {
  const NodeId product = mul(call, call.tensor("x"), call.tensor("y"));
  return one(call.reduce(ReduceKind::sum, product, {call.integer("dim", -1)}, false));
}
Values addmm(const Call& call) {
  const bool batched = call.has("batch1");
  return added(call, call.matmul(call.tensor(batched ? "batch1" : "mat1"), call.tensor(batched ? "batch2" : "mat2")));
}
Values addmv(const Call& call) { return added(call, call.matmul(call.tensor("mat"), call.tensor("vec"))); }
// The products of all pairs, summed.
Values addbmm(const Call& call) {
  const NodeId products = call.matmul(call.tensor("batch1"), call.tensor("batch2"));
  return added(call, call.reduce(ReduceKind::sum, products, {0}, false));
}
// Sums over the last axes of both.
Values inner(const Call& call) {
  const NodeId a = call.tensor("self"), b = call.tensor("other");
  if (call.rank(a) == 0 || call.rank(b) == 0) return one(mul(call, a, b));
  if (call.rank(b) == 1) return one(call.matmul(a, b));
  const int64_t width = call.shape(b)[call.rank(b) - 1];
  const NodeId rows = call.reshape(b, std::vector<int64_t>{-1, width});
  Shape to = call.shape(a);
  to.erase(call.rank(a) - 1);
  for (int i = 0; i + 1 < call.rank(b); ++i) to.push_back(call.shape(b)[i]);
  return one(call.reshape(call.matmul(a, call.swap_axes(rows, 0, 1)), to));
}
// Sums over pairs of axes: those of the first go to its end, those of the second to its front.
Values tensordot(const Call& call) {
  const NodeId a = call.tensor("self"), b = call.tensor("other");
  std::vector<int64_t> of_a = call.integers("dims_self"), of_b = call.integers("dims_other");
  if (of_a.size() != of_b.size()) refuse("got {} axes to sum over and {}", of_a.size(), of_b.size());
  for (int64_t& axis : of_a) axis = call.axis(a, axis);
  for (int64_t& axis : of_b) axis = call.axis(b, axis);
  Dims order_a, order_b;
  Shape to;
  int64_t summed = 1;
  for (int i = 0; i < call.rank(a); ++i)
    if (std::ranges::find(of_a, i) == of_a.end()) order_a.push_back(i), to.push_back(call.shape(a)[i]);
  for (const int64_t axis : of_a) order_a.push_back(axis), summed *= call.shape(a)[static_cast<int>(axis)];
  for (const int64_t axis : of_b) order_b.push_back(axis);
  for (int i = 0; i < call.rank(b); ++i)
    if (std::ranges::find(of_b, i) == of_b.end()) order_b.push_back(i), to.push_back(call.shape(b)[i]);
  if (order_a.rank() != call.rank(a) || order_b.rank() != call.rank(b)) refuse("an axis to sum over twice");
  const NodeId rows = call.reshape(call.transpose(a, order_a), std::vector<int64_t>{-1, summed});
  const NodeId columns = call.reshape(call.transpose(b, order_b), std::vector<int64_t>{summed, -1});
  return one(call.reshape(call.matmul(rows, columns), to));
}
// Each element of the first times the whole second.
Values kron(const Call& call) {
  auto [a, b] = call.both();
  while (call.rank(a) < call.rank(b)) a = call.unsqueeze(a, 0);
  while (call.rank(b) < call.rank(a)) b = call.unsqueeze(b, 0);
  const int rank = call.rank(a);
  Shape to = call.shape(a);
  for (int i = 0; i < rank; ++i) to[i] *= call.shape(b)[i];
  for (int i = 0; i < rank; ++i) a = call.unsqueeze(a, 2 * i + 1), b = call.unsqueeze(b, 2 * i);
  return one(call.reshape(mul(call, a, b), to));
}
// input1' weight[o] input2 for each o.
Values bilinear(const Call& call) {
  NodeId y = call.einsum("...i,oij,...j->...o", {call.tensor("input1"), call.tensor("weight"), call.tensor("input2")});
  if (const auto bias = call.optional_tensor("bias")) y = call.binary(BinaryKind::add, y, *bias);
  return one(y);
}
// a[1] b[2] - a[2] b[1] and so on around an axis of three.
Values cross(const Call& call) {
  const NodeId a = call.tensor("self"), b = call.tensor("other");
  int axis = call.axis(a, call.integer("dim", -1));
  if (!call.has("dim") && base_name(call.target()) == "cross")  // the older name takes the first axis that fits
    for (axis = 0; axis + 1 < call.rank(a) && call.shape(a)[axis] != 3;) ++axis;
  if (call.shape(a)[axis] != 3) refuse("a cross product along an axis of {}, wanted 3", call.shape(a)[axis]);
  const auto turned = [&](NodeId x, int64_t by) {
    const int at = axis + call.rank(x) - call.rank(a);
    return call.concat({call.slice(x, at, by, 3), call.slice(x, at, 0, by)}, at);
  };
  return one(sub(call, mul(call, turned(a, 1), turned(b, 2)), mul(call, turned(a, 2), turned(b, 1))));
}

Values vector_norm(const Call& call) {
  return one(norm(call, call.in_asked_type(call.tensor("self")), call.number("ord", 2), axes_of(call)));
}
Values norm_of_p(const Call& call) {
  return one(norm(call, call.in_asked_type(call.tensor("self")), call.optional_number("p").value_or(2), axes_of(call)));
}
Values frobenius_norm(const Call& call) { return one(norm(call, call.tensor("self"), 2, axes_of(call))); }
// Without an order it is that of all elements; with one, of a vector's, not of a matrix's singular values.
Values linalg_norm(const Call& call) {
  const NodeId x = call.in_asked_type(call.tensor("self"));
  const Axes over = axes_of(call);
  const bool of_matrix = over.axes.size() == 2 || (over.axes.empty() && call.rank(x) == 2);
  if (call.has("ord") && of_matrix) refuse("a matrix's norm of an order, wanted none");
  return one(norm(call, x, call.optional_number("ord").value_or(2), over));
}

// Distances of all rows of the first from all of the second.
Values cdist(const Call& call) {
  const NodeId a = call.tensor("x1"), b = call.tensor("x2");
  const NodeId apart = sub(call, call.unsqueeze(a, -2), call.unsqueeze(b, call.rank(b) - 2));
  return one(norm(call, apart, call.number("p", 2), {{-1}, false}));
}
Values pairwise_distance(const Call& call) {
  const auto [a, b] = call.both("x1", "x2");
  const NodeId apart = plus(call, call.in_floats(sub(call, a, b)), call.number("eps", 1e-6));
  return one(norm(call, apart, call.number("p", 2), {{-1}, call.flag("keepdim")}));
}
Values cosine_similarity(const Call& call) {
  const double eps = call.number("eps", 1e-8);
  const Axes over{{call.integer("dim", 1)}, true};
  const auto unit = [&](NodeId x) {
    return call.binary(BinaryKind::div, x, call.clamp(norm(call, x, 2, over), eps, std::nullopt));
  };
  const auto [a, b] = call.both("x1", "x2");
  const NodeId products = mul(call, unit(call.in_floats(a)), unit(call.in_floats(b)));
  return one(call.reduce(ReduceKind::sum, products, over.axes, false));
}

}  // namespace rung::pt2::operators

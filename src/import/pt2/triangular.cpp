// Systems of equations whose matrix is a triangle, solved row after row.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/elimination.hpp"
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

struct Triangle {
  NodeId matrix;  // [..., n, n], of which one triangle is read
  bool upper = false, unit = false;
};

Triangle transposed(const Call& call, const Triangle& a) {
  return {call.swap_axes(a.matrix, -2, -1), !a.upper, a.unit};
}

// The x of a x = b: each row is what is left of b's, once the rows before it are taken away.
NodeId substituted(const Call& call, const Triangle& a, NodeId b) {
  const EquationPair of = same_batch(call, a.matrix, b);
  const int64_t n = call.shape(of.a).back();
  NodeId rest = of.b;
  std::vector<NodeId> rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = a.upper ? n - 1 - i : i;
    const NodeId column = call.slice(of.a, -1, k, k + 1), pivot = call.slice(column, -2, k, k + 1);
    NodeId row = call.slice(rest, -2, k, k + 1);
    if (!a.unit) row = call.binary(BinaryKind::div, row, pivot);
    rows[static_cast<size_t>(k)] = row;
    rest = call.binary(BinaryKind::sub, rest, call.binary(BinaryKind::mul, column, row));
  }
  return n == 0 ? rest : call.concat(rows, -2);
}

// The x of L L' x = b.
NodeId solved_by_factor(const Call& call, const Triangle& factor, NodeId b) {
  const Triangle lower = factor.upper ? transposed(call, factor) : factor;
  return substituted(call, transposed(call, lower), substituted(call, lower, b));
}

}  // namespace

// The x of a x = b, or of x a = b where the call says so.
Values solve_triangular(const Call& call) {
  const bool left = call.flag("left", true);
  Triangle a{call.in_floats(call.tensor("self")), call.flag("upper"), call.flag("unitriangular")};
  NodeId b = call.in_floats(call.tensor("B"));
  if (!left) a = transposed(call, a), b = call.swap_axes(b, -2, -1);
  const NodeId x = substituted(call, a, b);
  return one(left ? x : call.swap_axes(x, -2, -1));
}

// The older name, which gives the matrix, too.
Values triangular_solve(const Call& call) {
  const NodeId matrix = call.in_floats(call.tensor("A"));
  Triangle a{matrix, call.flag("upper", true), call.flag("unitriangular")};
  if (call.flag("transpose")) a = transposed(call, a);
  return several({substituted(call, a, call.in_floats(call.tensor("self"))), matrix});
}

Values cholesky_solve(const Call& call) {
  const Triangle factor{call.in_floats(call.tensor("input2")), call.flag("upper")};
  return one(solved_by_factor(call, factor, call.in_floats(call.tensor("self"))));
}

Values cholesky_inverse(const Call& call) {
  const Triangle factor{call.in_floats(call.tensor("self")), call.flag("upper")};
  return one(solved_by_factor(call, factor, identity_like(call, factor.matrix)));
}

}  // namespace rung::pt2::operators

// Inverses, solutions of linear equations, determinants and Cholesky's factors of small matrices, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/elimination.hpp"

#include <cmath>

#include "import/pt2/operators.hpp"

namespace rung::pt2 {
namespace {

using exported::refuse;

constexpr int64_t kMostRows = 32;  // each row is some 15 nodes

// The numbers of the rows of x, to compare with one.
NodeId rows_of(const Call& call, NodeId x) {
  return call.counted(call.shape(x).back(1), call.rank(x) - 2, call.rank(x));
}
NodeId is_row(const Call& call, NodeId rows, int64_t k) {
  return call.binary(BinaryKind::eq, rows, call.scalar(static_cast<double>(k), DType::i64));
}

}  // namespace

int64_t rows_of_square(const Call& call, NodeId a) {
  if (call.rank(a) < 2 || call.shape(a).back() != call.shape(a).back(1) || call.shape(a).back() > kMostRows)
    refuse("a matrix of {}, wanted a square one of at most {} rows", call.type(a), kMostRows);
  return call.shape(a).back();
}

NodeId identity_like(const Call& call, NodeId a) {
  const int rank = call.rank(a);
  const NodeId columns = call.counted(rows_of_square(call, a), rank - 1, rank);
  return call.broadcast(call.cast(call.binary(BinaryKind::eq, rows_of(call, a), columns), call.dtype(a)),
                        call.shape(a));
}

EquationPair same_batch(const Call& call, NodeId a, NodeId b) {
  const int64_t n = rows_of_square(call, a);
  if (call.rank(b) < 2 || call.shape(b).back(1) != n) refuse("{} beside {}", call.type(b), call.type(a));
  const auto batch = [&](NodeId x) {
    Shape shape = call.shape(x);
    shape.erase(shape.rank() - 1), shape.erase(shape.rank() - 1);
    return shape;
  };
  const Shape both = value_or_throw(broadcast(batch(a), batch(b)));
  const auto of_batch = [&](NodeId x) {
    Shape to = both;
    to.push_back(call.shape(x).back(1)), to.push_back(call.shape(x).back());
    return call.broadcast(x, to);
  };
  return {of_batch(a), of_batch(b)};
}

namespace operators {
namespace {

// x with row k and the row of the largest of column k from there on in each other's place.
struct Pivoted {
  NodeId x, was_moved;
};
Pivoted with_pivot(const Call& call, NodeId x, int64_t k) {
  const NodeId rows = rows_of(call, x), own = call.scalar(static_cast<double>(k), DType::i64);
  const NodeId sizes = call.unary(UnaryKind::abs, call.slice(x, -1, k, k + 1));
  const NodeId is_left = call.binary(BinaryKind::ge, rows, own);
  const NodeId at = call.arg_max(call.select(is_left, sizes, call.scalar(-1, call.dtype(x))), -2, true);
  const NodeId below = call.select(call.binary(BinaryKind::eq, rows, at), own, rows);
  const NodeId order = call.select(call.binary(BinaryKind::eq, rows, own), at, below);
  return {call.gather_elements(x, call.broadcast(order, call.shape(x)), -2), call.binary(BinaryKind::ne, at, own)};
}

struct Solved {
  NodeId right;                // [..., n, m]
  std::vector<NodeId> pivots;  // [..., 1, 1] each: the determinant is their product
};

// Gauss and Jordan's elimination: row operations that make `a` the identity, done to `right` beside it.
Solved solved(const Call& call, NodeId a, NodeId right) {
  const int64_t n = rows_of_square(call, a), columns = call.shape(right).back();
  NodeId x = call.concat({a, right}, -1);
  const NodeId rows = rows_of(call, x);
  std::vector<NodeId> pivots;
  for (int64_t k = 0; k < n; ++k) {
    const Pivoted pivoted = with_pivot(call, x, k);
    const NodeId row = call.slice(pivoted.x, -2, k, k + 1), pivot = call.slice(row, -1, k, k + 1);
    pivots.push_back(call.select(pivoted.was_moved, call.unary(UnaryKind::neg, pivot), pivot));
    const NodeId unit = call.binary(BinaryKind::div, row, pivot);
    const NodeId factors = call.slice(pivoted.x, -1, k, k + 1);
    const NodeId rest = call.binary(BinaryKind::sub, pivoted.x, call.binary(BinaryKind::mul, factors, unit));
    x = call.select(is_row(call, rows, k), unit, rest);
  }
  return {call.slice(x, -1, n, n + columns), std::move(pivots)};
}

NodeId matrix_of(const Call& call) {
  return call.in_floats(call.tensor(call.has("A") ? "A" : call.has("input") ? "input" : "self"));
}

std::vector<NodeId> pivots_of(const Call& call, NodeId a) {
  rows_of_square(call, a);
  return solved(call, a, call.slice(a, -1, 0, 0)).pivots;
}
// One number of each matrix of a, [..., 1, 1], without these axes.
NodeId without_matrix(const Call& call, NodeId a, NodeId x) {
  Shape each = call.shape(a);
  each.erase(each.rank() - 1), each.erase(each.rank() - 1);
  return call.reshape(x, each);
}

// The results that stand behind the first one are for gradients and for checks.
Values first_of(const Call& call, NodeId result) {
  const bool has_more = base_name(call.target()).starts_with('_') || base_name(call.target()).ends_with("_ex");
  Values all = one(result);
  if (has_more) all.resize(4);
  return all;
}

}  // namespace

Values inverse(const Call& call) {
  const NodeId a = matrix_of(call);
  return first_of(call, solved(call, a, identity_like(call, a)).right);
}

// The x of a x = b, or of x a = b where the call says so; b is a vector, or has a matrix for each of a's.
Values solve(const Call& call) {
  NodeId a = matrix_of(call), b = call.in_floats(call.tensor("B"));
  Shape of_vector = call.shape(a);
  rows_of_square(call, a);
  of_vector.erase(call.rank(a) - 1);
  const bool is_vector = call.rank(b) == 1 || call.shape(b) == of_vector, left = call.flag("left", true);
  if (is_vector) b = call.unsqueeze(b, -1);
  if (!left) a = call.swap_axes(a, -2, -1), b = call.swap_axes(b, -2, -1);
  const EquationPair of = same_batch(call, a, b);
  NodeId x = solved(call, of.a, of.b).right;
  if (!left) x = call.swap_axes(x, -2, -1);
  return first_of(call, is_vector ? call.squeeze(x, {-1}) : x);
}

Values determinant(const Call& call) {
  const NodeId a = matrix_of(call);
  NodeId product = call.scalar(1, call.dtype(a));
  for (const NodeId pivot : pivots_of(call, a)) product = call.binary(BinaryKind::mul, product, pivot);
  return first_of(call, without_matrix(call, a, product));
}

namespace {

// The sign of the determinant and the logarithm of its size, which is a sum: a product may leave the range of f32.
struct SignAndLog {
  NodeId sign, log;
};
SignAndLog sign_and_log_of(const Call& call, NodeId a) {
  NodeId sign = call.scalar(1, call.dtype(a)), sum = call.scalar(0, call.dtype(a));
  for (const NodeId pivot : pivots_of(call, a)) {
    sign = call.binary(BinaryKind::mul, sign, call.sign(pivot));
    sum = call.binary(BinaryKind::add, sum, call.unary(UnaryKind::log, call.unary(UnaryKind::abs, pivot)));
  }
  return {without_matrix(call, a, sign), without_matrix(call, a, sum)};
}

}  // namespace

Values sign_and_log_determinant(const Call& call) {
  const auto [sign, log] = sign_and_log_of(call, matrix_of(call));
  Values all = several({sign, log});
  if (base_name(call.target()).starts_with('_')) all.resize(4);
  return all;
}
// NaN where the determinant is negative.
Values log_determinant(const Call& call) {
  const auto [sign, log] = sign_and_log_of(call, matrix_of(call));
  const NodeId is_negative = call.binary(BinaryKind::lt, sign, call.scalar(0, call.dtype(log)));
  return one(call.select(is_negative, call.scalar(NAN, call.dtype(log)), log));
}

// The lower triangle L of L L' = a, column after column; with `upper` its transpose.
Values cholesky(const Call& call) {
  NodeId rest = matrix_of(call);
  const int64_t n = rows_of_square(call, rest);
  const NodeId rows = rows_of(call, rest);
  std::vector<NodeId> columns;
  for (int64_t k = 0; k < n; ++k) {
    const NodeId column = call.slice(rest, -1, k, k + 1);
    const NodeId root = call.unary(UnaryKind::sqrt, call.slice(column, -2, k, k + 1));
    const NodeId is_below = call.binary(BinaryKind::ge, rows, call.scalar(static_cast<double>(k), DType::i64));
    const NodeId scaled = call.binary(BinaryKind::div, column, root);
    columns.push_back(call.select(is_below, scaled, call.scalar(0, call.dtype(rest))));
    const NodeId product = call.binary(BinaryKind::mul, columns.back(), call.swap_axes(columns.back(), -2, -1));
    rest = call.binary(BinaryKind::sub, rest, product);
  }
  const NodeId lower = n == 0 ? rest : call.concat(columns, -1);
  return first_of(call, call.flag("upper") ? call.swap_axes(lower, -2, -1) : lower);
}

}  // namespace operators

}  // namespace rung::pt2

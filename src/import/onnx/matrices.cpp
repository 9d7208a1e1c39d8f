// Determinants of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

constexpr int64_t kMostRows = 64;  // each is a step of elimination, with nodes of its own

// A step of Gaussian elimination on matrices [...,M,M]: the row with the largest first element changes places with the
// first one, and clears the first column of the others.
struct Elimination {
  NodeId pivot;  // [...], with the sign of the change
  NodeId rest;   // [...,M-1,M-1]
};
Elimination eliminated(const Call& call, NodeId x) {
  const int rank = call.rank(x);
  const int64_t rows = call.shape(x)[rank - 1];
  const auto number = [&](double value) { return call.scalar(value, DType::f32); };
  const NodeId place = call.arg_max(call.unary(UnaryKind::abs, call.select_index(x, -1, 0)), -1, true);
  const NodeId counted = call.cast(call.counted(rows, rank - 2, rank - 1), DType::f32);
  const NodeId chosen = call.binary(BinaryKind::eq, counted, call.cast(place, DType::f32));
  const NodeId row =
      call.reduce(ReduceKind::sum, call.select(call.unsqueeze(chosen, -1), x, number(0)), {rank - 2}, true);
  const NodeId first = call.binary(BinaryKind::eq, call.squeeze(call.cast(place, DType::f32), {-1}), number(0));
  const NodeId value = call.squeeze(call.slice(row, -1, 0, 1), {-2, -1});
  const NodeId swapped = call.select(call.unsqueeze(chosen, -1), call.slice(x, -2, 0, 1), x);
  const NodeId others = call.slice(swapped, -2, 1, rows);
  const NodeId divisor = call.unsqueeze(call.unsqueeze(value, -1), -1);
  const NodeId factor = call.select(call.binary(BinaryKind::eq, divisor, number(0)), number(0),
                                    call.binary(BinaryKind::div, call.slice(others, -1, 0, 1), divisor));
  const NodeId taken = call.binary(BinaryKind::mul, factor, call.slice(row, -1, 1, rows));
  return {call.select(first, value, call.unary(UnaryKind::neg, value)),
          call.binary(BinaryKind::sub, call.slice(others, -1, 1, rows), taken)};
}

}  // namespace

// The determinant of each matrix, in f32.
Outputs det(const Call& call) {
  NodeId x = call.cast(call[0], DType::f32);
  const int rank = call.rank(x);
  const int64_t rows = rank < 2 ? 0 : call.shape(x)[rank - 1];
  if (rows < 1 || rows > kMostRows || call.shape(x)[rank - 2] != rows)
    refuse("determinants of {}, wanted square matrices of 1 to {} rows", call.type(x), kMostRows);
  std::optional<NodeId> product;
  const auto times = [&](NodeId factor) {
    product = product ? call.binary(BinaryKind::mul, *product, factor) : factor;
  };
  for (int64_t left = rows; left > 1; --left) {
    const Elimination step = eliminated(call, x);
    times(step.pivot), x = step.rest;
  }
  times(call.squeeze(x, {-2, -1}));
  return {call.cast(*product, call.dtype(call[0]))};
}

}  // namespace rung::onnx::operators

// Type rules of reductions and normalisations.
// SPDX-License-Identifier: Apache-2.0
#include "ir/infer.hpp"

namespace rung::infer {
namespace {

Status want_last_axis(const Type& x) {
  if (x.shape.rank() < 1 || x.shape.back() < 1) return fail("x: got {}, wanted a last dimension of at least 1", x);
  return want_float(x, "x");
}

}  // namespace

Result<Type> rule(const Softmax& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_float(types[0], "x"));
  RUNG_CHECK(normalize_axis(op.axis, types[0].shape.rank()));
  return types[0];
}

Result<Type> rule(const LayerNorm& op, Types types) {
  RUNG_CHECK(want_count(types, 3u + op.has_residual));
  RUNG_CHECK(want_last_axis(types[0]));
  for (const Type& type : types) RUNG_CHECK(want_float(type, "operand"));
  if (!is_float(op.out)) return fail("got output type {}, wanted a float type", op.out);
  if (op.has_residual) RUNG_CHECK(want_shape(types[1], types[0].shape, "residual"));
  Shape vector{types[0].shape.back()};
  RUNG_CHECK(want_shape(types[types.size() - 2], vector, "weight"));
  RUNG_CHECK(want_shape(types.back(), vector, "bias"));
  return Type{op.out, types[0].shape};
}

Result<Type> rule(const RmsNorm& op, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_last_axis(types[0]));
  RUNG_CHECK(want_float(types[1], "weight"));
  if (!is_float(op.out)) return fail("got output type {}, wanted a float type", op.out);
  RUNG_CHECK(want_shape(types[1], Shape{types[0].shape.back()}, "weight"));
  return Type{op.out, types[0].shape};
}

Result<Type> rule(const L2Normalize&, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_last_axis(types[0]));
  return types[0];
}

Result<Type> rule(const Reduce& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_TRY(int axis, normalize_axis(op.axis, types[0].shape.rank()));
  if (op.kind == ReduceKind::mean) RUNG_CHECK(want_float(types[0], "x"));
  if (types[0].shape[axis] == 0 && op.kind != ReduceKind::sum)
    return fail("x: got {}, wanted at least one element", types[0]);
  Type type = types[0];
  if (op.kind == ReduceKind::sum && !is_float(type.dtype)) type.dtype = DType::i64;
  if (op.keep_dim)
    type.shape[axis] = 1;
  else
    type.shape.erase(axis);
  return type;
}

Result<Type> rule(const CumSum& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(normalize_axis(op.axis, types[0].shape.rank()));
  return Type{is_float(types[0].dtype) ? types[0].dtype : DType::i64, types[0].shape};
}

Result<Type> rule(const MaskedMean&, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_rank(types[0], 3, "x"));
  RUNG_CHECK(want_float(types[0], "x"));
  const Shape& x = types[0].shape;
  if (types[1].dtype != DType::f32) return fail("mask: got {}, wanted f32", types[1]);
  RUNG_CHECK(want_shape(types[1], Shape{x[0], x[1]}, "mask"));
  return Type{types[0].dtype, Shape{x[0], x[2]}};
}

}  // namespace rung::infer

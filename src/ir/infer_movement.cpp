// Type rules of ops that move or re-address elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/infer.hpp"

namespace rung::infer {

Result<Type> rule(const Reshape& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  for (int64_t dim : op.shape)
    if (dim < 0) return fail("got shape {}, wanted no negative dimension", op.shape);
  if (op.shape.product() != types[0].elements())
    return fail("got {} for shape {}: element counts differ", types[0], op.shape);
  return Type{types[0].dtype, op.shape};
}

Result<Type> rule(const Transpose& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  const Shape& x = types[0].shape;
  if (op.permutation.rank() != x.rank()) return fail("got permutation {} for {}", op.permutation, types[0]);
  Shape shape = x;
  unsigned seen = 0;
  for (int i = 0; i < x.rank(); ++i) {
    int64_t axis = op.permutation[i];
    if (axis < 0 || axis >= x.rank() || (seen >> axis & 1u))
      return fail("{} is not a permutation of {} axes", op.permutation, x.rank());
    seen |= 1u << axis;
    shape[i] = x[static_cast<int>(axis)];
  }
  return Type{types[0].dtype, shape};
}

Result<Type> rule(const Slice& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_TRY(int axis, normalize_axis(op.axis, types[0].shape.rank()));
  const int64_t size = types[0].shape[axis];
  if (op.step < 1 || op.step > std::max<int64_t>(1, size) || op.begin < 0 || op.end < op.begin || op.end > size)
    return fail("got [{}:{}:{}] of axis {} of {}, wanted 0 <= begin <= end <= size and 1 <= step <= size", op.begin,
                op.end, op.step, axis, types[0]);
  Type type = types[0];
  type.shape[axis] = (op.end - op.begin + op.step - 1) / op.step;
  return type;
}

Result<Type> rule(const Concat& op, Types types) {
  if (types.empty()) return fail("got no operands, wanted at least one");
  RUNG_TRY(int axis, normalize_axis(op.axis, types[0].shape.rank()));
  Type type = types[0];
  for (const Type& next : types.subspan(1)) {
    RUNG_CHECK(want_same_dtype(types[0], next));
    Shape wanted = types[0].shape;
    if (next.shape.rank() == wanted.rank()) wanted[axis] = next.shape[axis];
    RUNG_CHECK(want_shape(next, wanted, "operand"));
    type.shape[axis] += next.shape[axis];
    RUNG_CHECK(want_countable(type));
  }
  return type;
}

Result<Type> rule(const Broadcast& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_broadcast_to(types[0], op.shape, "operand"));
  return Type{types[0].dtype, op.shape};
}

Result<Type> rule(const Gather& op, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_TRY(int axis, normalize_axis(op.axis, types[0].shape.rank()));
  const Type& indices = types[1];
  if (indices.dtype != DType::i64 && indices.dtype != DType::i32)
    return fail("indices: got {}, wanted i64 or i32", indices);
  if (types[0].shape.rank() - 1 + indices.shape.rank() > Dims::kMaxRank)
    return fail("result has more than {} dimensions", Dims::kMaxRank);
  Shape shape;
  for (int i = 0; i < types[0].shape.rank(); ++i) {
    if (i != axis)
      shape.push_back(types[0].shape[i]);
    else
      for (int64_t dim : indices.shape) shape.push_back(dim);
  }
  return Type{types[0].dtype, shape};
}

}  // namespace rung::infer

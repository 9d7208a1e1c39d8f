// Type rules of matrix products, convolution and attention.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/infer.hpp"
#include "ir/norm_row.hpp"

namespace rung::infer {

Result<Type> rule(const MatMul&, Types types) {
  RUNG_CHECK(want_count(types, 2));
  const Type &a = types[0], &b = types[1];
  RUNG_CHECK(want_float(a, "a"));
  RUNG_CHECK(want_same_dtype(a, b));
  if (a.shape.rank() < 2 || b.shape.rank() < 2) return fail("got {} and {}, wanted rank 2 or more", a, b);
  if (a.shape.back() != b.shape.back(1)) return fail("got {} and {}: inner dimensions differ", a, b);
  Shape batch_a = a.shape, batch_b = b.shape;
  for (Shape* batch : {&batch_a, &batch_b}) batch->erase(batch->rank() - 1), batch->erase(batch->rank() - 1);
  RUNG_TRY(Shape shape, broadcast(batch_a, batch_b));
  shape.push_back(a.shape.back(1));
  shape.push_back(b.shape.back());
  return Type{a.dtype, shape};
}

namespace {

Status want_angles(const Linear& op, const Type& result, const Type& cos, const Type& sin) {
  if (op.gated || op.has(LinearSlot::residual) || op.activation != Activation::none)
    return fail("got rotated heads with a gate, an activation or a residual, wanted none of them");
  RUNG_CHECK(want_float(cos, "cos"));
  RUNG_CHECK(want_float(sin, "sin"));
  Shape angles = result.shape;
  if (cos.shape.rank() != angles.rank()) return fail("cos: got {}, wanted one row for each of {}", cos, result);
  const int64_t width = angles[angles.rank() - 1] = cos.shape.back();
  RUNG_CHECK(want_shape(cos, angles, "cos"));
  RUNG_CHECK(want_shape(sin, angles, "sin"));
  if (width < 2 || width % 2 || op.rotated_heads > result.shape.back() / width)
    return fail("got {} rotated heads of {} columns in {}, wanted an even width and no more than fit", op.rotated_heads,
                width, result);
  return {};
}

Status want_squares(const Type& x, const Type& squares) {
  RUNG_CHECK(want_float(squares, "squares"));
  Shape wanted = x.shape;
  if (wanted.back() % kNormRun) return fail("x: got {}, wanted runs of {} columns to have squares of", x, kNormRun);
  wanted[wanted.rank() - 1] = norm_squares(x.shape.back());
  return want_shape(squares, wanted, "squares");
}

Result<Type> norm_rows(const Linear& op, Shape shape, const Type& weight) {
  if (op.gated || op.rotated_heads > 0) return fail("got rows for a norm with a gate or rotated heads, wanted neither");
  if (op.out != DType::bf16) return fail("got rows for a norm of type {}, wanted bf16", op.out);
  int64_t& columns = shape[shape.rank() - 1];
  if (columns % kNormRun) return fail("got rows for a norm of {} columns, wanted runs of {}", columns, kNormRun);
  RUNG_CHECK(want_float(weight, "norm_weight"));
  RUNG_CHECK(want_shape(weight, Shape{columns}, "norm_weight"));
  columns = norm_row(columns);
  return Type{op.out, shape};
}

// What its fields say of its slots, and the other way round.
Status want_slots(const Linear& op, Types types) {
  if (op.rotated_heads < 0) return fail("got {} rotated heads, wanted 0 or more", op.rotated_heads);
  const bool rotated = op.rotated_heads > 0;
  if (op.has(LinearSlot::cos) != rotated || op.has(LinearSlot::sin) != rotated)
    return fail("got {} rotated heads, wanted slots cos and sin beside them and only there", op.rotated_heads);
  if (op.split_residual && !op.has(LinearSlot::residual)) return fail("got no residual that is split, wanted one");
  return want_count(types, op.slots.size());
}

Status want_residual(const Linear& op, const Type& residual, Shape shape) {
  if (op.split_residual) shape[shape.rank() - 1] *= 2;
  return want_shape(residual, shape, "residual");
}

}  // namespace

Result<Type> rule(const Linear& op, Types types) {
  RUNG_CHECK(want_slots(op, types));
  const Type &x = types[0], &w = types[1];
  RUNG_CHECK(want_float(x, "x"));
  RUNG_CHECK(want_float(w, "weight"));
  RUNG_CHECK(want_rank(w, 2, "weight"));
  if (x.shape.rank() < 1 || x.shape.back() != w.shape[1])
    return fail("got x {} and weight {}: inner dimensions differ", x, w);
  if (op.gated && w.shape[0] % 2) return fail("weight: got {}, wanted an even number of rows (gate and up)", w);
  if (!is_float(op.out)) return fail("got output type {}, wanted a float type", op.out);
  Shape shape = x.shape;
  shape[shape.rank() - 1] = op.gated ? w.shape[0] / 2 : w.shape[0];
  const auto operand = [&](LinearSlot slot) { return op.find(types, slot); };
  if (const Type* bias = operand(LinearSlot::bias)) RUNG_CHECK(want_shape(*bias, Shape{w.shape[0]}, "bias"));
  if (const Type* residual = operand(LinearSlot::residual)) RUNG_CHECK(want_residual(op, *residual, shape));
  if (op.rotated_heads > 0)
    RUNG_CHECK(want_angles(op, {op.out, shape}, *operand(LinearSlot::cos), *operand(LinearSlot::sin)));
  if (const Type* squares = operand(LinearSlot::squares)) RUNG_CHECK(want_squares(x, *squares));
  if (const Type* weight = operand(LinearSlot::norm_weight)) return norm_rows(op, shape, *weight);
  return Type{op.out, shape};
}

Result<Type> rule(const Conv2d& op, Types types) {
  RUNG_CHECK(want_count(types, 3));
  const Type &x = types[0], &w = types[1];
  RUNG_CHECK(want_float(x, "x"));
  RUNG_CHECK(want_same_dtype(x, w));
  RUNG_CHECK(want_rank(x, 4, "x"));
  RUNG_CHECK(want_rank(w, 4, "weight"));
  if (op.stride < 1 || op.stride > std::max<int64_t>(1, std::max(x.shape[2], x.shape[3])))
    return fail("got stride {} for {}, wanted 1 to the image's size", op.stride, x);
  if (x.shape[1] != w.shape[1] || x.shape[2] < w.shape[2] || x.shape[3] < w.shape[3] || w.shape[2] < 1 ||
      w.shape[3] < 1)
    return fail("got x {} and weight {}: channels differ, or the image is smaller than the window", x, w);
  RUNG_CHECK(want_shape(types[2], Shape{w.shape[0]}, "bias"));
  return Type{x.dtype, Shape{x.shape[0], w.shape[0], (x.shape[2] - w.shape[2]) / op.stride + 1,
                             (x.shape[3] - w.shape[3]) / op.stride + 1}};
}

Result<Type> rule(const Attention& op, Types types) {
  if (op.segments < 1) return fail("got {} segments, wanted at least 1", op.segments);
  size_t first = op.has_mask ? 2 : 1;
  // Divided, not multiplied: twice a number from a file may wrap around.
  if (types.size() < first || (types.size() - first) % 2 || (types.size() - first) / 2 != uint64_t(op.segments))
    return fail("got {} operands, wanted {} and two for each of {} segments", types.size(), first, op.segments);
  const Type& q = types[0];
  RUNG_CHECK(want_float(q, "q"));
  RUNG_CHECK(want_rank(q, 4, "q"));
  int64_t keys = 0;
  for (size_t i = first; i < types.size(); i += 2) {
    const Type &k = types[i], &v = types[i + 1];
    RUNG_CHECK(want_rank(k, 4, "k"));
    RUNG_CHECK(want_same_dtype(q, k));
    if (!(k == v)) return fail("got k {} and v {}, wanted equal types", k, v);
    if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3] || k.shape[2] < 1 || q.shape[2] % k.shape[2] ||
        k.shape[2] != types[first].shape[2])
      return fail("got q {} and k {}: batch, heads or head sizes do not fit", q, k);
    keys += k.shape[1];
    RUNG_CHECK(want_countable({DType::f32, {q.shape[0], q.shape[2], q.shape[1], keys}}));  // the scores
  }
  if (op.has_mask) {
    if (types[1].dtype != DType::f32) return fail("mask: got {}, wanted f32", types[1]);
    RUNG_CHECK(want_broadcast_to(types[1], Shape{q.shape[0], q.shape[2], q.shape[1], keys}, "mask"));
  }
  return q;
}

Result<Type> rule(const Im2col& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  const Type& x = types[0];
  RUNG_CHECK(want_rank(x, 4, "x"));
  int64_t p = op.patch;
  if (p < 1 || x.shape[2] < p || x.shape[3] < p)
    return fail("got {} and patch {}, wanted an image of at least one patch", x, p);
  return Type{x.dtype, Shape{x.shape[0], (x.shape[2] / p) * (x.shape[3] / p), x.shape[1] * p * p}};
}

}  // namespace rung::infer

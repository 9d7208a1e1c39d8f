// Type rules and semantics of ops that move or re-address elements; they cost no flops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/op_rules.hpp"

namespace rung::infer {
namespace {

Semantics moved(std::vector<OperandUse> operands) {
  for (OperandUse& use : operands)
    if (use.role == OperandRole::data) use.infinity = InfinityUse::carries;
  return {.operands = std::move(operands)};
}

// Returns the ends of the next run of axes from `i` and `j` on that has as many elements in both shapes. The rest of
// both has as many elements, so that the shorter run has a further axis.
std::pair<int, int> next_run(const Shape& x, int i, const Shape& y, int j) {
  int64_t elements = x[i++], others = y[j++];
  while (elements != others)
    if (elements < others)
      elements *= x[i++];
    else
      others *= y[j++];
  return {i, j};
}

// Returns the axes of a reshape: an axis neither split nor joined stays itself; the others map to theirs as a whole.
std::vector<AxisRead> reshaped(const Shape& x, const Shape& y) {
  std::vector<AxisRead> axes;
  if (x.product() == 0) return std::vector<AxisRead>(static_cast<size_t>(x.rank()), whole(0, y.rank()));
  int i = 0, j = 0;
  while (i < x.rank() && j < y.rank()) {
    if (x[i] == 1 && y[j] != 1) {
      axes.push_back(whole());
      ++i;
      continue;
    }
    if (y[j] == 1 && x[i] != 1) {
      ++j;
      continue;
    }
    auto [end_i, end_j] = next_run(x, i, y, j);
    const bool alone = end_i == i + 1 && end_j == j + 1;
    for (; i < end_i; ++i) axes.push_back(alone ? same(j) : whole(j, end_j - j));
    j = end_j;
  }
  for (; i < x.rank(); ++i) axes.push_back(whole());  // axes of size 1; so are the rest of y's
  return axes;
}

}  // namespace

Result<Type> rule(const Reshape& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  for (int64_t dim : op.shape)
    if (dim < 0) return fail("got shape {}, wanted no negative dimension", op.shape);
  RUNG_CHECK(want_countable({types[0].dtype, op.shape}));  // before its product, which could overflow
  if (op.shape.product() != types[0].elements())
    return fail("got {} for shape {}: element counts differ", types[0], op.shape);
  return Type{types[0].dtype, op.shape};
}

Semantics semantics(const Reshape& op, const Signature& s) { return moved({{.axes = reshaped(s.shape(0), op.shape)}}); }

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

Semantics semantics(const Transpose& op, const Signature& s) {
  OperandUse use = aligned(OperandRole::data, s.shape(0));
  for (int i = 0; i < op.permutation.rank(); ++i) use.axes[static_cast<size_t>(op.permutation[i])] = same(i);
  return moved({use});
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

Semantics semantics(const Slice& op, const Signature& s) {
  OperandUse use = aligned(OperandRole::data, s.shape(0));
  const int axis = *normalize_axis(op.axis, s.result.shape.rank());
  use.axes[static_cast<size_t>(axis)] = window(axis, op.begin, op.step, 1);
  return moved({use});
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

Semantics semantics(const Concat& op, const Signature& s) {
  const int axis = *normalize_axis(op.axis, s.result.shape.rank());
  std::vector<OperandUse> uses;
  int64_t begin = 0;
  for (size_t i = 0; i < s.operands.size(); ++i) {
    uses.push_back(aligned(OperandRole::data, s.shape(i)));
    uses.back().axes[static_cast<size_t>(axis)] = joined(axis, begin);
    begin += s.shape(i)[axis];
  }
  return moved(std::move(uses));
}

Result<Type> rule(const Broadcast& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_broadcast_to(types[0], op.shape, "operand"));
  return Type{types[0].dtype, op.shape};
}

Semantics semantics(const Broadcast& op, const Signature& s) {
  return moved({broadcasting(OperandRole::data, s.shape(0), op.shape)});
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

Semantics semantics(const Gather& op, const Signature& s) {
  const int axis = *normalize_axis(op.axis, s.shape(0).rank()), inserted = s.shape(1).rank();
  OperandUse x = aligned(OperandRole::data, s.shape(0)), indices = aligned(OperandRole::index, s.shape(1));
  for (int i = axis; i < s.shape(0).rank(); ++i)
    x.axes[static_cast<size_t>(i)] = i == axis ? whole() : same(i - 1 + inserted);
  for (int i = 0; i < inserted; ++i) indices.axes[static_cast<size_t>(i)] = same(axis + i);
  x.picked = true;
  return moved({x, indices});
}

Result<Type> rule(const Scatter& op, Types types) {
  RUNG_CHECK(want_count(types, 3));
  const Type &x = types[0], &indices = types[1], &updates = types[2];
  if (indices.dtype != DType::i64 || indices.shape.rank() != 1) return fail("indices: got {}, wanted i64[M]", indices);
  if (x.shape.rank() < 1) return fail("x: got {}, wanted at least one dimension", x);
  Shape wanted = x.shape;
  wanted[0] = indices.shape[0];
  RUNG_CHECK(want_same_dtype(x, updates));
  RUNG_CHECK(want_shape(updates, wanted, "updates"));
  if (x.dtype == DType::boolean && (op.kind == ScatterKind::add || op.kind == ScatterKind::mul))
    return fail("x: got {}, wanted numbers for {}", x, name_of(op.kind));
  return x;
}

Semantics semantics(const Scatter& op, const Signature& s) {
  OperandUse rows = aligned(OperandRole::data, s.shape(0), 0);
  Semantics out{.operands = {rows, {.role = OperandRole::index, .axes = {whole()}}, rows}};
  if (op.kind != ScatterKind::set) out.flops = count(s.operands[2]);
  if (op.kind == ScatterKind::add) out.terms = s.shape(1)[0] + 1;
  if (!is_float(s.result.dtype)) out.accumulator = DType::i64;
  return out;
}

}  // namespace rung::infer

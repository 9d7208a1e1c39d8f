// Type rules and semantics of reductions and normalisations.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"

namespace rung::infer {
namespace {

Status want_last_axis(const Type& x) {
  if (x.shape.rank() < 1 || x.shape.back() < 1) return fail("x: got {}, wanted a last dimension of at least 1", x);
  return want_float(x, "x");
}

// Returns the semantics of an op whose one operand has the result's shape: it reads each line along `axis` as a whole.
Semantics along(OperandRole role, int64_t axis, const Signature& s, double flops) {
  const Shape& x = s.shape(0);
  const int mixed = *normalize_axis(axis, x.rank());
  return {.operands = {aligned(role, x, mixed)}, .terms = x[mixed], .flops = flops * count(s.result)};
}

}  // namespace

Result<Type> rule(const Softmax& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_float(types[0], "x"));
  RUNG_CHECK(normalize_axis(op.axis, types[0].shape.rank()));
  return types[0];
}

Semantics semantics(const Softmax& op, const Signature& s) {
  Semantics out = along(OperandRole::statistic, op.axis, s, 4);  // maximum, difference, exponential, quotient
  out.operands[0].infinity = InfinityUse::masks;
  return out;
}

Result<Type> rule(const LayerNorm& op, Types types) {
  RUNG_CHECK(want_count(types, op.slots.size()));
  RUNG_CHECK(want_last_axis(types[0]));
  for (const Type& type : types) RUNG_CHECK(want_float(type, "operand"));
  RUNG_CHECK(want_rounded(op.out, "out"));
  const auto operand = [&](LayerNormSlot slot) { return op.slots.find(types, slot); };
  if (const Type* residual = operand(LayerNormSlot::residual))
    RUNG_CHECK(want_shape(*residual, types[0].shape, "residual"));
  Shape vector{types[0].shape.back()};
  RUNG_CHECK(want_shape(*operand(LayerNormSlot::weight), vector, "weight"));
  RUNG_CHECK(want_shape(*operand(LayerNormSlot::bias), vector, "bias"));
  return Type{op.out, types[0].shape};
}

Semantics semantics(const LayerNorm& op, const Signature& s) {
  Semantics out = along(OperandRole::statistic, -1, s, 7 + op.has_residual());
  const int last = s.result.shape.rank() - 1;
  if (const auto* residual = op.slots.find(s.operands, LayerNormSlot::residual))
    out.operands.push_back(aligned(OperandRole::residual, residual->shape, last));
  for (OperandUse& rows : out.operands) rows.any_float = true;
  const OperandUse vector{.role = OperandRole::scale, .axes = {same(last)}};
  out.operands.insert(out.operands.end(), {vector, vector});
  return out;
}

Result<Type> rule(const RmsNorm& op, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_last_axis(types[0]));
  RUNG_CHECK(want_float(types[1], "weight"));
  RUNG_CHECK(want_rounded(op.out, "out"));
  RUNG_CHECK(want_shape(types[1], Shape{types[0].shape.back()}, "weight"));
  return Type{op.out, types[0].shape};
}

Semantics semantics(const RmsNorm&, const Signature& s) {
  Semantics out = along(OperandRole::statistic, -1, s, 4);
  out.operands[0].any_float = true;
  out.operands.push_back({.role = OperandRole::scale, .axes = {same(s.result.shape.rank() - 1)}});
  return out;
}

Result<Type> rule(const L2Normalize&, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_last_axis(types[0]));
  return types[0];
}

Semantics semantics(const L2Normalize&, const Signature& s) { return along(OperandRole::statistic, -1, s, 3); }

Result<Type> rule(const GroupNorm& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_last_axis(types[0]));
  const Shape& x = types[0].shape;
  if (x.rank() < 2) return fail("x: got {}, wanted a batch and channels", types[0]);
  if (op.groups < 1 || x.back() % op.groups) return fail("got {} groups of {}", op.groups, types[0]);
  return types[0];
}

Semantics semantics(const GroupNorm& op, const Signature& s) {
  const Shape& x = s.shape(0);
  OperandUse use{.role = OperandRole::statistic, .axes = {same(0)}};
  for (int i = 1; i < x.rank(); ++i) use.axes.push_back(whole(i, 1));
  const int64_t terms = x[0] == 0 ? 0 : x.product() / x[0] / op.groups;
  return {.operands = {use}, .terms = terms, .flops = 5 * count(s.result)};
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

Semantics semantics(const Reduce& op, const Signature& s) {
  const Shape& x = s.shape(0);
  const int axis = *normalize_axis(op.axis, x.rank());
  OperandUse use = aligned(op.kind == ReduceKind::mean ? OperandRole::statistic : OperandRole::data, x);
  for (int i = axis; i < x.rank(); ++i)
    use.axes[static_cast<size_t>(i)] = i == axis ? reduced() : same(op.keep_dim ? i : i - 1);
  return {.operands = {use},
          .terms = x[axis],
          .accumulator = is_float(s.result.dtype) ? DType::f32 : DType::i64,
          .flops = count(s.operands[0])};
}

namespace {

Status want_outliers(const Quantize& op, int64_t columns) {
  if (op.outliers.empty()) return {};
  if (op.to != DType::i8 || op.group > 0)
    return fail("got outliers beside to={} and group={}, wanted i8 without groups", op.to, op.group);
  int64_t least = 0;
  for (const int64_t column : op.outliers) {
    if (column < least || column >= columns)
      return fail("outliers: got column {}, wanted ascending ones of {}, each once", column, columns);
    least = column + 1;
  }
  return {};
}

}  // namespace

Result<Type> rule(const Quantize& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_float(types[0], "x"));
  if (types[0].shape.rank() < 1) return fail("x: got {}, wanted at least one dimension", types[0]);
  if (!is_quantised(op.to) && op.to != DType::u8)
    return fail("got to={}, wanted f8e4m3fn, f8e4m3fnuz, i8 or u8", op.to);
  const int64_t columns = types[0].shape.back();
  if (op.group < 0 || op.group % 8) return fail("got group={}, wanted 0 or a multiple of 8", op.group);
  if (op.group > 0 && columns % op.group)
    return fail("got x {} and group={}, wanted groups that divide the columns", types[0], op.group);
  if (is_f8(op.to) && op.group > 0) return fail("got to={} and group={}, wanted i8 or u8", op.to, op.group);
  RUNG_CHECK(want_outliers(op, columns));
  if (op.to != DType::u8) return Type{op.to, types[0].shape};
  if (op.group == 0) return fail("got to=u8 without a group, wanted one for numbers of 4 bits");
  Type pairs{op.to, types[0].shape};
  pairs.shape[pairs.shape.rank() - 1] = columns / 2;
  return pairs;
}

Semantics semantics(const Quantize&, const Signature& s) {
  OperandUse use = aligned(OperandRole::statistic, s.shape(0), s.shape(0).rank() - 1);
  use.any_float = true;
  return {.operands = {use}, .flops = 3 * count(s.operands[0])};
}

std::vector<Type> further_types(const Quantize& op, const Signature& s) {
  Shape rows = s.result.shape;
  rows.erase(rows.rank() - 1);
  std::vector<Type> types{{DType::f32, rows}};
  if (!op.outliers.empty()) {
    rows.push_back(static_cast<int64_t>(op.outliers.size()));
    types.push_back({DType::f32, rows});
  }
  if (op.group == 0) return types;
  Shape groups = s.shape(0);
  groups[groups.rank() - 1] /= op.group;
  types.insert(types.end(), op.to == DType::u8 ? 2 : 1, {DType::i8, groups});
  return types;
}

Result<Type> rule(const TopK& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  if (types[0].dtype == DType::boolean) return fail("x: got {}, wanted numbers", types[0]);
  if (types[0].shape.rank() < 1) return fail("x: got {}, wanted at least one dimension", types[0]);
  if (op.k < 1 || op.k > types[0].shape.back())
    return fail("got k = {} of {}, wanted 1 to the last dimension", op.k, types[0]);
  Type type = types[0];
  type.shape[type.shape.rank() - 1] = op.k;
  return type;
}

Semantics semantics(const TopK&, const Signature& s) {
  return {.operands = {aligned(OperandRole::data, s.shape(0), s.shape(0).rank() - 1)}, .flops = count(s.operands[0])};
}

std::vector<Type> further_types(const TopK&, const Signature& s) { return {{DType::i64, s.result.shape}}; }

Result<Type> rule(const CumSum& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(normalize_axis(op.axis, types[0].shape.rank()));
  return Type{is_float(types[0].dtype) ? types[0].dtype : DType::i64, types[0].shape};
}

Semantics semantics(const CumSum& op, const Signature& s) {
  Semantics out = along(OperandRole::data, op.axis, s, 1);
  if (!is_float(s.result.dtype)) out.accumulator = DType::i64;
  return out;
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

Semantics semantics(const MaskedMean&, const Signature& s) {
  return {
      .operands = {{.axes = {same(0), reduced(), same(1)}}, {.role = OperandRole::scale, .axes = {same(0), reduced()}}},
      .terms = s.shape(0)[1],
      .flops = 2 * count(s.operands[0])};
}

}  // namespace rung::infer

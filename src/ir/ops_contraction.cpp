// Type rules and semantics of matrix products, patches and attention.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ir/op_rules.hpp"

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

Semantics semantics(const MatMul&, const Signature& s) {
  Semantics out{.terms = s.shape(0).back(), .flops = 2 * count(s.result) * static_cast<double>(s.shape(0).back())};
  for (size_t i : {size_t{0}, size_t{1}}) {
    out.operands.push_back(broadcasting(OperandRole::product, s.shape(i), s.result.shape));
    auto& axes = out.operands.back().axes;
    const int rank = s.result.shape.rank();
    axes[axes.size() - 2] = i == 0 ? same(rank - 2) : reduced();
    axes.back() = i == 0 ? reduced() : same(rank - 1);
  }
  return out;
}

namespace {

Status want_angles(const Linear& op, const Type& result, const Type& cos, const Type& sin) {
  if (op.epilogue.gated || op.has(LinearSlot::residual) || op.epilogue.activation != Activation::none)
    return fail("got rotated heads with a gate, an activation or a residual, wanted none of them");
  RUNG_CHECK(want_float(cos, "cos"));
  RUNG_CHECK(want_float(sin, "sin"));
  Shape angles = result.shape;
  if (cos.shape.rank() != angles.rank()) return fail("cos: got {}, wanted one row for each of {}", cos, result);
  const int64_t width = angles[angles.rank() - 1] = cos.shape.back();
  RUNG_CHECK(want_shape(cos, angles, "cos"));
  RUNG_CHECK(want_shape(sin, angles, "sin"));
  const int64_t heads = op.epilogue.rotated_heads;
  if (width < 2 || width % 2 || heads > result.shape.back() / width)
    return fail("got {} rotated heads of {} columns in {}, wanted an even width and no more than fit", heads, width,
                result);
  return {};
}

Status want_squares(const Type& x, const Type& squares) {
  RUNG_CHECK(want_float(squares, "squares"));
  Shape wanted = x.shape;
  const int64_t columns = wanted.back(), runs = squares.shape.rank() > 0 ? squares.shape.back() : 0;
  if (runs < 1 || columns % runs)
    return fail("squares: got {}, wanted rows of means whose number divides the columns of x, {}", squares, x);
  wanted[wanted.rank() - 1] = runs;
  return want_shape(squares, wanted, "squares");
}

Status want_norm_weight(const Linear& op, const Shape& shape, const Type& weight) {
  const Linear::Epilogue& end = op.epilogue;
  if (end.gated || end.rotated_heads > 0) return fail("got norm weights with a gate or rotated heads, wanted neither");
  if (shape.back() % end.norm_run)
    return fail("norm_weight: got a result of {} columns, wanted runs of {}", shape.back(), end.norm_run);
  RUNG_CHECK(want_float(weight, "norm_weight"));
  return want_shape(weight, Shape{shape.back()}, "norm_weight");
}

// Checks which slots stand beside groups of columns.
Status want_slots_of_groups(const Linear& op, Types types) {
  const Type* groups = op.slots.find(types, LinearSlot::group_scale);
  const bool of_floats = groups && groups->dtype == DType::f32;
  if (of_floats && (op.has(LinearSlot::scale) || !op.has(LinearSlot::group_offset) || op.has(LinearSlot::x_scale)))
    return fail("got a group_scale of f32, wanted the slot group_offset beside it, and neither scale nor x_scale");
  if (!of_floats && (!op.has(LinearSlot::scale) || !groups || op.has(LinearSlot::x_scale)))
    return fail("got groups of columns, wanted the slots scale and group_scale beside them, and no x_scale");
  return {};
}

// Checks scales and offsets of runs of w's columns.
Status want_groups(const Linear& op, Types types) {
  RUNG_CHECK(want_slots_of_groups(op, types));
  const Type &x = types[0], &w = types[1];
  const bool has_offsets = op.has(LinearSlot::group_offset);
  RUNG_CHECK(want_float(x, "x"));
  if (is_f8(x.dtype)) return fail("got x {}, wanted a type of 16 bits or more beside groups", x);
  if (w.dtype != (has_offsets ? DType::u8 : DType::i8))
    return fail("got weight {}, wanted {}", w, has_offsets ? "u8 beside group_offset" : "i8 without group_offset");
  const Type& scale = *op.slots.find(types, LinearSlot::group_scale);
  const int64_t groups = scale.shape.rank() > 0 ? scale.shape.back() : 0;
  if (groups < 1 || x.shape.back() % groups || x.shape.back() / groups % 2)
    return fail("group_scale: got {}, wanted equal runs of an even number of the columns of x, {}", scale, x);
  for (const LinearSlot slot : {LinearSlot::group_scale, LinearSlot::group_offset}) {
    const Type* type = op.slots.find(types, slot);
    const bool may_be_f32 = slot == LinearSlot::group_scale && type && type->dtype == DType::f32;
    const Type wanted{may_be_f32 ? DType::f32 : DType::i8, {w.shape[0], groups}};
    if (type && *type != wanted) return fail("{}: got {}, wanted {}", name_of(slot), *type, wanted);
  }
  return {};
}

// Checks the columns that are multiplied beside those of 8 bits. `rows`: the shape of x without its columns.
Status want_outliers(const Linear& op, Types types, Shape rows) {
  const Type *of_x = op.slots.find(types, LinearSlot::x_outliers), *of_w = op.slots.find(types, LinearSlot::w_outliers);
  if (!of_x && !of_w) return {};
  if (types[0].dtype != DType::i8) return fail("got x {}, wanted i8 beside outliers", types[0]);
  if (!of_x || !of_w || !op.has(LinearSlot::scale) || !op.has(LinearSlot::x_scale))
    return fail("got outliers, wanted the slots scale, x_scale, x_outliers and w_outliers together");
  RUNG_CHECK(want_float(*of_w, "w_outliers"));
  RUNG_CHECK(want_rank(*of_w, 2, "w_outliers"));
  const int64_t outliers = of_w->shape[1];
  if (outliers < 1 || of_w->shape[0] != types[1].shape[0])
    return fail("w_outliers: got {}, wanted one column or more in {} rows", *of_w, types[1].shape[0]);
  rows.push_back(outliers);
  if (*of_x != Type{DType::f32, rows}) return fail("x_outliers: got {}, wanted {}", *of_x, Type{DType::f32, rows});
  return {};
}

// Checks the operands that linears of 8 bits have.
Status want_scales(const Linear& op, Types types) {
  const Type &x = types[0], &w = types[1];
  const Type* scale = op.slots.find(types, LinearSlot::scale);
  const bool grouped = op.has(LinearSlot::group_scale) || op.has(LinearSlot::group_offset);
  if (grouped) RUNG_CHECK(want_groups(op, types));
  for (const auto& [operand, name] : {std::pair(&x, "x"), std::pair(&w, "weight")})
    if (!grouped && (operand->dtype != DType::i8 || !scale)) RUNG_CHECK(want_float(*operand, name));
  if (x.dtype != w.dtype && (x.dtype == DType::i8 || is_f8(x.dtype)))
    return fail("got x {} and weight {}, wanted x of a type of 16 bits or more, or of the weight's", x, w);
  if (scale && *scale != Type{DType::f32, {w.shape[0]}})
    return fail("scale: got {}, wanted f32[{}]", *scale, w.shape[0]);
  Shape rows = x.shape;
  rows.erase(rows.rank() - 1);
  const Type* of_x = op.slots.find(types, LinearSlot::x_scale);
  if (of_x && *of_x != Type{DType::f32, rows}) return fail("x_scale: got {}, wanted {}", *of_x, Type{DType::f32, rows});
  return want_outliers(op, types, rows);
}

Status want_bias(Types types, const Type& bias) {
  const Type &x = types[0], &w = types[1];
  const bool integers = x.dtype == DType::i8 && w.dtype == DType::i8;
  if (!is_float(bias.dtype) && (bias.dtype != DType::i32 || !integers))
    return fail("bias: got {}, wanted floats, or i32 beside x and weight of i8", bias);
  return want_shape(bias, Shape{w.shape[0]}, "bias");
}

// Checks that the fields of a linear agree with its slots.
Status want_slots(const Linear& op, Types types) {
  const int64_t heads = op.epilogue.rotated_heads, run = op.epilogue.norm_run;
  if (heads < 0) return fail("got {} rotated heads, wanted 0 or more", heads);
  const bool rotated = heads > 0;
  if (op.has(LinearSlot::cos) != rotated || op.has(LinearSlot::sin) != rotated)
    return fail("got {} rotated heads, wanted slots cos and sin beside them and only there", heads);
  if (run < 0 || op.has(LinearSlot::norm_weight) != (run > 0))
    return fail("got norm_run={}, wanted the length of a run beside the slot norm_weight and only there", run);
  return want_count(types, op.slots.size());
}

}  // namespace

Result<Type> rule(const Linear& op, Types types) {
  RUNG_CHECK(want_slots(op, types));
  const Type &x = types[0], &w = types[1];
  RUNG_CHECK(want_rank(w, 2, "weight"));
  const int64_t packed = op.has(LinearSlot::group_offset) ? 2 : 1;  // numbers in an element of w
  if (x.shape.rank() < 1 || x.shape.back() % packed || x.shape.back() / packed != w.shape[1])
    return fail("got x {} and weight {}: inner dimensions differ", x, w);
  RUNG_CHECK(want_scales(op, types));
  const bool gated = op.epilogue.gated;
  if (gated && w.shape[0] % 2) return fail("weight: got {}, wanted an even number of rows (gate and up)", w);
  RUNG_CHECK(want_rounded(op.out, "out"));
  const auto& [normed, factor] = std::tie(op.epilogue.normed, op.epilogue.factor);
  RUNG_CHECK(want_rounded(normed, "normed"));
  if (!std::isfinite(factor) || factor == 0) return fail("got factor={}, wanted a number other than 0", factor);
  Shape shape = x.shape;
  shape[shape.rank() - 1] = gated ? w.shape[0] / 2 : w.shape[0];
  const auto operand = [&](LinearSlot slot) { return op.slots.find(types, slot); };
  if (const Type* bias = operand(LinearSlot::bias)) RUNG_CHECK(want_bias(types, *bias));
  if (const Type* residual = operand(LinearSlot::residual)) RUNG_CHECK(want_shape(*residual, shape, "residual"));
  if (op.epilogue.rotated_heads > 0)
    RUNG_CHECK(want_angles(op, {op.out, shape}, *operand(LinearSlot::cos), *operand(LinearSlot::sin)));
  if (const Type* squares = operand(LinearSlot::squares)) RUNG_CHECK(want_squares(x, *squares));
  if (const Type* weight = operand(LinearSlot::norm_weight)) RUNG_CHECK(want_norm_weight(op, shape, *weight));
  return Type{op.out, shape};
}

namespace {

OperandUse use_of(const Linear& op, const Signature& s, LinearSlot slot) {
  const int last = s.result.shape.rank() - 1;
  // Column j of the result depends on row j of w alone, unless the op is gated or extended.
  const AxisRead column = op.epilogue.gated || op.is_extended() ? whole(last, 1) : same(last);
  const auto rows = [&](OperandRole role, AxisRead columns) {
    OperandUse use = aligned(role, op.slots.find(s.operands, slot)->shape);
    use.axes.back() = columns;
    return use;
  };
  OperandUse use;
  switch (slot) {
    case LinearSlot::x:
      return rows(OperandRole::product, reduced());
    case LinearSlot::w:
      return {.role = OperandRole::weights, .axes = {column, reduced()}};
    case LinearSlot::bias:
      use = {.role = OperandRole::scale, .axes = {column}};
      if (!op.is_extended() && op.epilogue == Linear::Epilogue{}) use.infinity = InfinityUse::carries;
      return use;
    case LinearSlot::residual:
      use = rows(OperandRole::residual, column);
      use.any_float = true;
      if (!op.is_extended()) use.infinity = InfinityUse::carries;
      return use;
    case LinearSlot::cos:
    case LinearSlot::sin:
      return rows(OperandRole::scale, whole(last, 1));
    case LinearSlot::norm_weight:
      return {.role = OperandRole::scale, .axes = {column}};
    case LinearSlot::squares:
      return rows(OperandRole::statistic, reduced());
    case LinearSlot::scale:
      return {.role = OperandRole::scale, .axes = {column}};
    case LinearSlot::x_scale:
      return aligned(OperandRole::scale, op.slots.find(s.operands, slot)->shape);
    case LinearSlot::x_outliers:
      return rows(OperandRole::product, reduced());
    case LinearSlot::w_outliers:
      return {.role = OperandRole::weights, .axes = {column, reduced()}};
    case LinearSlot::group_scale:
    case LinearSlot::group_offset:
      return {.role = OperandRole::scale, .axes = {column, reduced()}};
  }
  return use;
}

// Returns the number of terms of each sum: columns of 8 bits, and those beside them.
int64_t terms_of(const Linear& op, const Signature& s) {
  const Type* outliers = op.slots.find(s.operands, LinearSlot::w_outliers);
  return s.shape(0).back() + (outliers ? outliers->shape.back() : 0);
}

double flops_of(const Linear& op, const Signature& s) {
  const auto depth = static_cast<double>(terms_of(op, s));
  const auto dim = [](int64_t n) { return static_cast<double>(n); };
  const auto elements = [&](LinearSlot slot) { return op.has(slot) ? count(*op.slots.find(s.operands, slot)) : 0; };
  const bool feeds_norm = op.has(LinearSlot::norm_weight), normed = op.has(LinearSlot::squares);
  const Linear::Epilogue& end = op.epilogue;
  const double columns = count(s.result), products = columns * (end.gated ? 2 : 1);  // over all rows
  const int factors = normed + op.has(LinearSlot::scale) + op.has(LinearSlot::x_scale);
  return products * (2 * depth + op.has(LinearSlot::bias) + factors) +
         columns * ((end.factor != 1) + (end.activation != Activation::none) + end.gated +
                    op.has(LinearSlot::residual) + 3 * feeds_norm) +
         3 * elements(LinearSlot::cos) * dim(end.rotated_heads) + elements(LinearSlot::squares);
}

}  // namespace

Semantics semantics(const Linear& op, const Signature& s) {
  Semantics out{.terms = terms_of(op, s), .flops = flops_of(op, s)};
  for (uint8_t slot = 0; out.operands.size() < s.operands.size(); ++slot)
    if (op.has(LinearSlot{slot})) out.operands.push_back(use_of(op, s, LinearSlot{slot}));
  return out;
}

std::vector<Type> further_types(const Linear& op, const Signature& s) {
  if (!op.has(LinearSlot::norm_weight)) return {};
  Shape squares = s.result.shape;
  squares[squares.rank() - 1] /= op.epilogue.norm_run;
  return {{op.epilogue.normed, s.result.shape}, {DType::f32, squares}};
}

namespace {

Status want_span(const KeySpan& span) {
  constexpr int64_t kAll = KeySpan::kAll;
  for (const auto& [name, reach] : {std::pair("before", span.before), std::pair("after", span.after)})
    if (reach < -kAll || reach > kAll) return fail("got {}={}, wanted {} at most either way", name, reach, kAll);
  if (span.before + span.after < 0)
    return fail("got before={} and after={}, wanted a sum from 0 on", span.before, span.after);
  if (span.prefix < 0 || span.prefix > kAll) return fail("got prefix={}, wanted 0 to {}", span.prefix, kAll);
  return {};
}

}  // namespace

namespace {

// Wants keys of the queries' type or, where all of them are one cache, of a float of 8 bits, whose values are as they
// are.
Status want_key_type(const Attention& op, const Type& q, const Type& k) {
  if (is_f8(k.dtype) && op.segments == 1) return {};
  return want_same_dtype(q, k);
}

}  // namespace

Result<Type> rule(const Attention& op, Types types) {
  if (op.segments < 1) return fail("got {} segments, wanted at least 1", op.segments);
  if (!(op.softcap >= 0) || std::isinf(op.softcap))
    return fail("got softcap {}, wanted a number from 0 on", op.softcap);
  RUNG_CHECK(want_span(op.span));
  const size_t first = op.first_key();
  // Divides, because twice a number from a file may wrap around.
  if (types.size() < first || (types.size() - first) % 2 || (types.size() - first) / 2 != uint64_t(op.segments))
    return fail("got {} operands, wanted {} and two for each of {} segments", types.size(), first, op.segments);
  if (op.out && !is_quantised(*op.out)) return fail("got output type {}, wanted one of 8 bits, or none: q's", *op.out);
  if (!std::isfinite(op.factor) || op.factor == 0)
    return fail("got factor={}, wanted a number other than 0", op.factor);
  const Type& q = types[0];
  RUNG_CHECK(want_float(q, "q"));
  RUNG_CHECK(want_rank(q, 4, "q"));
  int64_t keys = 0;
  for (size_t i = first; i < types.size(); i += 2) {
    const Type &k = types[i], &v = types[i + 1];
    RUNG_CHECK(want_rank(k, 4, "k"));
    RUNG_CHECK(want_key_type(op, q, k));
    if (!(k == v)) return fail("got k {} and v {}, wanted equal types", k, v);
    if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3] || k.shape[2] < 1 || q.shape[2] % k.shape[2] ||
        k.shape[2] != types[first].shape[2])
      return fail("got q {} and k {}: batch, heads or head sizes do not fit", q, k);
    keys += k.shape[1];
    RUNG_CHECK(want_countable({DType::f32, {q.shape[0], q.shape[2], q.shape[1], keys}}));  // the scores
  }
  if (const Type* length = op.slots.find(types, AttentionSlot::length)) {
    if (!(*length == Type{DType::i64, {1}})) return fail("length: got {}, wanted i64[1]", *length);
    if (op.has_mask() || op.segments != 1)
      return fail("got a length with a mask or {} segments, wanted one segment", op.segments);
    if (q.shape[1] > keys)
      return fail("got {} queries of a cache of {} keys, wanted no more than keys", q.shape[1], keys);
  }
  if (op.has_mask()) {
    if (types[1].dtype != DType::f32) return fail("mask: got {}, wanted f32", types[1]);
    RUNG_CHECK(want_broadcast_to(types[1], Shape{q.shape[0], q.shape[2], q.shape[1], keys}, "mask"));
  }
  return Type{op.out.value_or(q.dtype), q.shape};
}

namespace {

// Describes a mask that broadcasts to [B,H,S,K]; the result is [B,S,H,D].
OperandUse mask_use(const Shape& mask, const Shape& result) {
  OperandUse use{.role = OperandRole::mask, .broadcasts = true, .infinity = InfinityUse::masks};
  constexpr int kPlaces[] = {0, 2, 1};
  for (int axis = 0; axis < mask.rank(); ++axis) {
    const int place = axis + 4 - mask.rank();
    if (place == 3)
      use.axes.push_back(reduced());
    else if (mask[axis] == result[kPlaces[place]])
      use.axes.push_back(same(kPlaces[place]));
    else
      use.axes.push_back({AxisRead::Kind::broadcast, kPlaces[place]});
  }
  return use;
}

}  // namespace

Semantics semantics(const Attention& op, const Signature& s) {
  const Shape& q = s.shape(0);
  const size_t first = op.first_key();
  const AxisRead head = s.shape(first)[2] == q[2] ? same(2) : whole(2, 1);  // several query heads read one key head
  const bool is_placed = op.has_length() || !op.span.sees_all();            // a query's place says what it sees
  Semantics out;
  out.operands.push_back(
      {.role = OperandRole::product, .axes = {same(0), is_placed ? whole(1, 1) : same(1), same(2), reduced()}});
  if (op.has_mask()) out.operands.push_back(mask_use(s.shape(1), s.result.shape));
  if (op.has_length()) out.operands.push_back({.role = OperandRole::index, .axes = {whole()}});
  int64_t keys = 0;
  for (size_t i = first; i < s.operands.size(); i += 2) {
    keys += s.shape(i)[1];
    // The columns of v are the result's, but v has k's type, and k has q's. The least of a cache is what queries fill.
    out.operands.push_back(
        {.role = OperandRole::product, .axes = {same(0), reduced(), head, reduced()}, .picked = op.has_length()});
    out.operands.push_back(
        {.role = OperandRole::product, .axes = {same(0), reduced(), head, whole(3, 1)}, .picked = op.has_length()});
  }
  out.terms = q[3] + keys;  // terms of q k', then over the keys
  const auto dim = [](int64_t n) { return static_cast<double>(n); };
  const int64_t least_keys = op.has_length() ? q[1] : keys;
  out.flops =
      4 * dim(q[0]) * dim(q[2]) * dim(q[3]) * op.span.pairs(q[1], least_keys) + (op.factor != 1 ? count(s.result) : 0);
  return out;
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

Semantics semantics(const Im2col&, const Signature&) {
  return {.operands = {{.axes = {same(0), whole(2, 1), whole(1, 1), whole(1, 1)}}}};
}

}  // namespace rung::infer

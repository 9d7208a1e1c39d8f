// Type rules and semantics of convolution and pooling.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"
#include "ir/pointwise.hpp"
#include "ir/windows.hpp"

namespace rung::infer {
namespace {

Status want_list(const Dims& list, int axes, int64_t least, std::string_view what) {
  if (list.rank() != 0 && list.rank() != axes)
    return fail("{}: got {}, wanted none or {} numbers, one for each axis", what, list, axes);
  for (int64_t number : list)
    if (number < least || number > kMostOfWindow)
      return fail("{}: got {}, wanted numbers from {} to {}", what, list, least, kMostOfWindow);
  return {};
}

template <class Windowed>
Status want_lists(const Windowed& op, int axes) {
  RUNG_CHECK(want_list(op.stride, axes, 1, "stride"));
  RUNG_CHECK(want_list(op.dilation, axes, 1, "dilation"));
  RUNG_CHECK(want_list(op.before, axes, 0, "before"));
  return want_list(op.after, axes, 0, "after");
}

// Returns the number of the windows' results along one axis.
Result<int64_t> results_of(const Window& window) {
  if (window.taps < 1 || window.taps > kMostOfWindow || window.extent < 1 || window.extent > kMostOfWindow)
    return fail("got windows of {} taps over {} elements, wanted at least one of each", window.taps, window.extent);
  const int64_t reach = window.dilation * (window.taps - 1) + 1;
  if (window.transposed ? window.results() < 1 : reach > window.extent + window.before + window.after)
    return fail("got windows that reach over {} elements of {} with {} before and {} after: no window fits", reach,
                window.extent, window.before, window.after);
  return window.results();
}

// Returns the axes of I..., of x [B,I...,C].
Result<int> axes_of(const Type& x) {
  const int axes = x.shape.rank() - 2;
  if (axes < 1 || axes > 3) return fail("x: got {}, wanted one to three axes between the batch and channels", x);
  return axes;
}

// Returns how a result depends on x along an axis.
AxisRead read_of(const Window& window, int axis) {
  if (window.is_point()) return same(axis + 1);
  if (window.transposed || window.before > 0 || window.after > 0) return whole(axis + 1, 1);
  return infer::window(axis + 1, 0, window.stride, window.dilation * (window.taps - 1) + 1);
}

bool is_of_8_bits(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

Status want_of_8_bits(std::string_view what, int64_t number, DType dtype) {
  const int64_t least = dtype == DType::i8 ? -128 : 0;
  if (number < least || number > least + 255)
    return fail("{}: got {}, wanted a number of {}, {} to {}", what, number, dtype, least, least + 255);
  return {};
}

// Wants the types and fields of a convolution of integers, or none of their fields.
Status want_number_types(const Conv& op, Types types) {
  const Type &x = types[0], &w = types[1];
  const Type* scale = op.slots.find(types, ConvSlot::scale);
  if (!scale) {
    if (op.zero != 0 || op.out_zero != 0 || op.out) return fail("got zero points or `out` without a scale");
    RUNG_CHECK(want_float(x, "x"));
    return want_same_dtype(x, w);
  }
  if (!is_of_8_bits(x.dtype) || w.dtype != DType::i8)
    return fail("got x {} and weight {} with a scale, wanted u8 or i8, and i8", x, w);
  if (scale->dtype != DType::f32) return fail("scale: got {}, wanted f32", *scale);
  RUNG_CHECK(want_shape(*scale, Shape{w.shape[0]}, "scale"));
  if (op.transposed || !op.tail.empty()) return fail("got integers, wanted them neither transposed nor with a tail");
  RUNG_CHECK(want_of_8_bits("zero", op.zero, x.dtype));
  if (!op.out) return op.out_zero == 0 ? Status{} : fail("out_zero: got {} without `out`", op.out_zero);
  if (!is_of_8_bits(*op.out)) return fail("out: got {}, wanted u8 or i8", *op.out);
  if (op.has(ConvSlot::residual)) return fail("got a residual and out={}, wanted a result of floats", *op.out);
  return want_of_8_bits("out_zero", op.out_zero, *op.out);
}

// Wants floats that stand behind the products; a bias of integers may be i32.
Status want_summands(const Conv& op, Types types, const Shape& result) {
  const int64_t rows = types[1].shape[0];
  if (const Type* bias = op.slots.find(types, ConvSlot::bias)) {
    const bool has_row_of_factors = has_factors(bias->shape) && !op.is_of_integers();
    RUNG_CHECK(has_row_of_factors ? want_shape(*bias, Shape{2, rows}, "factors and bias")
                                  : want_shape(*bias, Shape{rows}, "bias"));
    if (op.is_of_integers() && bias->dtype != DType::f32 && bias->dtype != DType::i32)
      return fail("bias: got {} beside a scale, wanted i32 or f32", *bias);
    if (!op.is_of_integers()) RUNG_CHECK(want_float(*bias, "bias or residual"));
  }
  if (const Type* residual = op.slots.find(types, ConvSlot::residual)) {
    RUNG_CHECK(want_shape(*residual, result, "residual"));
    RUNG_CHECK(want_float(*residual, "bias or residual"));
  }
  return {};
}

}  // namespace

Result<Type> rule(const Conv& op, Types types) {
  RUNG_CHECK(want_count(types, op.slots.size()));
  const Type &x = types[0], &w = types[1];
  RUNG_TRY(const int axes, axes_of(x));
  RUNG_CHECK(want_rank(w, axes + 2, "weight"));
  RUNG_CHECK(want_number_types(op, types));
  RUNG_CHECK(want_lists(op, axes));
  RUNG_CHECK(want_list(op.extra, axes, 0, "extra"));
  if (op.extra.rank() > 0 && !op.transposed) return fail("extra: got {}, wanted it in a transposed one only", op.extra);
  if (op.groups < 1 || op.groups > x.shape.back() || x.shape.back() % op.groups || w.shape[0] % op.groups ||
      w.shape.back() != x.shape.back() / op.groups)
    return fail("got x {} and weight {} in {} groups: channels do not fit", x, w, op.groups);
  if (op.last != Activation::none && !op.has(ConvSlot::residual))
    return fail("got a last activation without a residual, wanted it as the activation");
  if (!op.tail.empty()) RUNG_CHECK(parse_pointwise(op.tail, 1));
  Type result{op.is_of_integers() ? op.out.value_or(DType::f32) : x.dtype, {x.shape[0]}};
  for (int axis = 0; axis < axes; ++axis) {
    RUNG_TRY(const int64_t results, results_of(window_of(op, x.shape, w.shape, axis)));
    result.shape.push_back(results);
  }
  result.shape.push_back(w.shape[0]);
  RUNG_CHECK(want_summands(op, types, result.shape));
  return result;
}

Semantics semantics(const Conv& op, const Signature& s) {
  const Shape &x = s.shape(0), &w = s.shape(1);
  const int axes = x.rank() - 2, last = axes + 1;
  OperandUse of_x{.role = OperandRole::product, .axes = {same(0)}}, of_w{.role = OperandRole::weights};
  of_w.axes.push_back(same(last));
  int64_t terms = w.back();
  double products = static_cast<double>(w.back());  // for each element of x if transposed, else of the result
  for (int axis = 0; axis < axes; ++axis) {
    const Window window = window_of(op, x, w, axis);
    of_x.axes.push_back(read_of(window, axis));
    of_w.axes.push_back(reduced());
    terms *= op.transposed ? (window.taps - 1) / window.stride + 1 : window.taps;
    products *= static_cast<double>(window.taps);
  }
  of_x.axes.push_back(reduced()), of_w.axes.push_back(reduced());
  if (op.transposed)
    products *= count({DType::f32, x}) / count(s.result) * static_cast<double>(w[0]) / static_cast<double>(x.back());
  const bool has_bias = op.has(ConvSlot::bias), has_residual = op.has(ConvSlot::residual);
  const bool scales = has_bias && has_factors(s.shape(2));
  Semantics out{.operands = {of_x, of_w}, .terms = terms};
  if (has_bias) out.operands.push_back({.role = OperandRole::scale, .axes = {same(last)}});
  if (scales) out.operands.back().axes.insert(out.operands.back().axes.begin(), reduced());
  if (has_residual) {
    out.operands.push_back(aligned(OperandRole::residual, s.result.shape));
    out.operands.back().any_float = true;
  }
  if (op.is_of_integers()) out.operands.push_back({.role = OperandRole::scale, .axes = {same(last)}});
  const int others = has_bias + scales + has_residual + op.is_of_integers() + (op.activation != Activation::none) +
                     (op.last != Activation::none) + static_cast<int>(std::count(op.tail.begin(), op.tail.end(), '='));
  out.flops = count(s.result) * (2 * products + others);
  return out;
}

Result<Type> rule(const Pool& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  const Type& x = types[0];
  RUNG_CHECK(want_float(x, "x"));
  RUNG_TRY(const int axes, axes_of(x));
  if (op.window.rank() != axes) return fail("window: got {}, wanted {} numbers, one for each axis", op.window, axes);
  RUNG_CHECK(want_lists(op, axes));
  if (op.places && op.kind != ReduceKind::max) return fail("got places of {}, wanted them of max", name_of(op.kind));
  Type result{x.dtype, {x.shape[0]}};
  for (int axis = 0; axis < axes; ++axis) {
    RUNG_TRY(const int64_t results, results_of(window_of(op, x.shape, axis)));
    result.shape.push_back(results);
  }
  result.shape.push_back(x.shape.back());
  return result;
}

Semantics semantics(const Pool& op, const Signature& s) {
  const Shape& x = s.shape(0);
  OperandUse use{.role = OperandRole::statistic, .axes = {same(0)}};
  int64_t terms = 1;
  for (int axis = 0; axis < x.rank() - 2; ++axis) {
    use.axes.push_back(read_of(window_of(op, x, axis), axis));
    terms *= op.window[axis];
  }
  use.axes.push_back(same(x.rank() - 1));
  return {.operands = {use}, .terms = terms, .flops = count(s.result) * static_cast<double>(terms)};
}

std::vector<Type> further_types(const Pool& op, const Signature& s) {
  if (!op.places) return {};
  return {{DType::i64, s.result.shape}};
}

}  // namespace rung::infer

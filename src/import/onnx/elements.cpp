// Follows elements of types that tensors of ours do not have through a graph.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/elements.hpp"

#include <algorithm>

namespace rung::onnx {
namespace {

using exported::refuse;

// Operators whose results are elements of their first or second input, moved or selected.
constexpr std::string_view kMoves[] = {
    "Concat",    "DepthToSpace", "Expand",    "Flatten",      "Gather",  "GatherElements", "GatherND",
    "Identity",  "Max",          "Min",       "Pad",          "Relu",    "Reshape",        "ScatterElements",
    "ScatterND", "Slice",        "Split",     "SpaceToDepth", "Squeeze", "Tile",           "TopK",
    "Transpose", "Trilu",        "Unsqueeze", "Where",        "Clip",    "TensorScatter"};
// Operators that compute integers within their type.
constexpr std::string_view kArithmetic[] = {"Abs",       "Add",        "BitShift", "BitwiseAnd", "BitwiseNot",
                                            "BitwiseOr", "BitwiseXor", "Div",      "Mod",        "Mul",
                                            "Neg",       "Pow",        "Sub",      "Sum"};
// Operators whose results have types of their own.
constexpr std::string_view kReads[] = {
    "Cast",  "CastLike",       "DequantizeLinear", "Equal",          "Greater",
    "Less",  "GreaterOrEqual", "LessOrEqual",      "QuantizeLinear", "QLinearMatMul",
    "Shape", "Size",           "MatMulInteger",    "BitCast",        "GatherBlockQuantized"};
// Those to which the order of numbers matters.
constexpr std::string_view kOrders[] = {"BitShift", "Cast", "Clip", "Div",         "Greater", "GreaterOrEqual", "Less",
                                        "Max",      "Min",  "Mod",  "LessOrEqual", "Relu",    "TopK",           "Pow"};

bool is_among(const auto& list, const std::string& name) { return std::ranges::find(list, name) != std::end(list); }

FormulaKind formula_for(int64_t data_type, bool saturates, std::string_view mode) {
  switch (data_type) {
    case 17:
      return saturates ? FormulaKind::f8e4m3fn : FormulaKind::f8e4m3fn_or_nan;
    case 18:
      return saturates ? FormulaKind::f8e4m3fnuz : FormulaKind::f8e4m3fnuz_or_nan;
    case 19:
      return saturates ? FormulaKind::f8e5m2 : FormulaKind::f8e5m2_or_nan;
    case 20:
      return saturates ? FormulaKind::f8e5m2fnuz : FormulaKind::f8e5m2fnuz_or_nan;
    case 23:
      return FormulaKind::f4e2m1;
    default:
      if (mode == "up") return FormulaKind::f8e8m0_up;
      if (mode == "down") return FormulaKind::f8e8m0_down;
      if (mode != "nearest") refuse("round_mode: got '{}', wanted up, down or nearest", mode);
      return FormulaKind::f8e8m0_nearest;
  }
}

// The same value as a node of its own, which may carry another type.
NodeId apart(const Call& call, NodeId x) { return call.add(Cast{call.dtype(x)}, {x}); }

}  // namespace

void Elements::note(NodeId node, int64_t data_type) {
  if (carried_type(data_type)) numbers_[node] = data_type;
}

std::optional<Carried> Elements::of(NodeId node) const {
  const auto found = numbers_.find(node);
  return found == numbers_.end() ? std::nullopt : carried_type(found->second);
}

std::optional<Carried> Elements::of_inputs(const Call& call) const {
  for (size_t i = 0; i < call.count(); ++i)
    if (const auto input = call.optional(i))
      if (const auto type = of(*input)) return type;
  return std::nullopt;
}

void Elements::check(const Call& call) const {
  if (!is_among(kOrders, call.node().op_type)) return;
  for (size_t i = 0; i < call.count(); ++i)
    if (const auto input = call.optional(i); input && computed_.contains(*input))
      refuse("computed numbers of uint64, which int64 carries up to its largest alone");
}

Result<Outputs> Elements::settled(const Call& call, Outputs results) {
  const auto type = of_inputs(call);
  const std::string& name = call.node().op_type;
  if (!type || is_among(kReads, name)) return results;
  const bool moves = is_among(kMoves, name), computes = is_among(kArithmetic, name) && !is_float(type->carrier);
  if (!moves && !computes) return bad_file("got elements of {}, for which there is no import of it", type->name);
  for (NodeId& result : results) {
    if (result == kNoNode || call.dtype(result) != type->carrier) continue;
    if (&result != &results[0] && name == "TopK") continue;
    if (computes && type->bits < 64) result = wrapped(call, result, *type);
    note(result, type->number);
    const auto is_computed = [&](size_t i) { return call.has(i) && computed_.contains(call[i]); };
    if (type->bits == 64 && (computes || is_computed(0) || is_computed(1))) computed_[result] = true;
  }
  return results;
}

NodeId wrapped(const Call& call, NodeId x, const Carried& type) {
  if (type.bits == 64) return x;
  const DType own = call.dtype(x);
  const double span = static_cast<double>(int64_t{1} << type.bits);
  const NodeId mask = call.scalar(span - 1, own);
  const auto masked = [&](NodeId y) { return call.add(Formula{FormulaKind::bit_and}, {y, mask}); };
  if (!type.is_signed) return masked(x);
  const NodeId half = call.scalar(span / 2, own);
  return call.binary(BinaryKind::sub, masked(call.binary(BinaryKind::add, x, half)), half);
}

NodeId converted(const Call& call, NodeId x, int64_t data_type, bool saturates, std::string_view mode) {
  const auto type = carried_type(data_type);
  if (!type) {
    const DType to = value_or_throw(dtype_of_number(data_type));
    return to == call.dtype(x) ? apart(call, x) : call.cast(x, to);
  }
  if (is_float(type->carrier))
    return call.add(Formula{formula_for(data_type, saturates, mode)}, {call.cast(x, DType::f32)});
  const NodeId whole = wrapped(call, call.cast(x, DType::i64), *type);
  return type->carrier == DType::i64 ? apart(call, whole) : call.cast(whole, type->carrier);
}

}  // namespace rung::onnx

// Operators of exported programs that few models call: trigonometry, remainders, bits.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

NodeId in_floats(const Call& call, NodeId x) { return is_float(call.dtype(x)) ? x : call.cast(x, DType::f32); }

Values of_self(const Call& call, FormulaKind kind) {
  return one(call.add(Formula{kind}, {in_floats(call, call.tensor("self"))}));
}

// Both in the type in which they meet.
Values of_both(const Call& call, FormulaKind kind) {
  const NodeId a = call.tensor("self"), b = call.tensor_or_number("other", a);
  const DType type =
      call.rank(b) == 0 && is_float(call.dtype(a)) ? call.dtype(a) : exported::promoted(call.dtype(a), call.dtype(b));
  return one(call.add(Formula{kind}, {call.cast(a, type), call.cast(b, type)}));
}

Values bits(const Call& call, FormulaKind kind, BinaryKind of_truths) {
  const NodeId a = call.tensor("self"), b = call.tensor_or_number("other", a);
  if (call.dtype(a) != DType::boolean || call.dtype(b) != DType::boolean) return of_both(call, kind);
  return one(call.binary(of_truths, a, b));
}

}  // namespace

Values tan(const Call& call) { return of_self(call, FormulaKind::tan); }
Values asin(const Call& call) { return of_self(call, FormulaKind::asin); }
Values acos(const Call& call) { return of_self(call, FormulaKind::acos); }
Values atan(const Call& call) { return of_self(call, FormulaKind::atan); }
Values sinh(const Call& call) { return of_self(call, FormulaKind::sinh); }
Values cosh(const Call& call) { return of_self(call, FormulaKind::cosh); }
Values asinh(const Call& call) { return of_self(call, FormulaKind::asinh); }
Values acosh(const Call& call) { return of_self(call, FormulaKind::acosh); }
Values atanh(const Call& call) { return of_self(call, FormulaKind::atanh); }
Values log1p(const Call& call) { return of_self(call, FormulaKind::log1p); }
Values expm1(const Call& call) { return of_self(call, FormulaKind::expm1); }
Values atan2(const Call& call) {
  const NodeId a = call.tensor("self"), b = call.tensor("other");
  return one(call.add(Formula{FormulaKind::atan2}, {in_floats(call, a), in_floats(call, b)}));
}
Values fmod(const Call& call) { return of_both(call, FormulaKind::fmod); }
Values bitwise_and(const Call& call) { return bits(call, FormulaKind::bit_and, BinaryKind::logical_and); }
Values bitwise_or(const Call& call) { return bits(call, FormulaKind::bit_or, BinaryKind::logical_or); }
Values bitwise_xor(const Call& call) { return bits(call, FormulaKind::bit_xor, BinaryKind::ne); }
Values shift_left(const Call& call) { return of_both(call, FormulaKind::shift_left); }
Values shift_right(const Call& call) { return of_both(call, FormulaKind::shift_right); }

}  // namespace rung::pt2::operators

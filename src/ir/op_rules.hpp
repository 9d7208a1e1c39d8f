// Type rules and semantics of the ops, one of each per struct, and their shared parts. infer_type() (ir/op.hpp) and
// semantics_of() (ir/semantics.hpp) dispatch to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/semantics.hpp"

namespace rung::infer {

using Types = std::span<const Type>;

// The types from which an op's semantics are derived: its rule has accepted them.
struct Signature {
  Types operands;
  const Type& result;
  const Shape& shape(size_t i) const { return operands[i].shape; }
};

// Every op has a rule and semantics in ops_FAMILY.cpp; there is no default.
#define RUNG_DECLARE_RULES(Struct)         \
  Result<Type> rule(const Struct&, Types); \
  Semantics semantics(const Struct&, const Signature&);
RUNG_EACH_OP(RUNG_DECLARE_RULES)
#undef RUNG_DECLARE_RULES

// Return the types of the results after the first, for ops that may have several (RUNG_RESULTS).
std::vector<Type> further_types(const Linear&, const Signature&);
std::vector<Type> further_types(const Quantize&, const Signature&);
std::vector<Type> further_types(const TopK&, const Signature&);
std::vector<Type> further_types(const Pool&, const Signature&);
std::vector<Type> further_types(const Region&, const Signature&);
std::vector<Type> further_types(const Recurrence&, const Signature&);
std::vector<Type> further_types(const CacheHeads&, const Signature&);
std::vector<Type> further_types(const CachedAttention&, const Signature&);

Status want_count(Types types, size_t wanted);
Status want_float(const Type& type, std::string_view what);
// Wants a type to which results are rounded: a float, or i8.
Status want_rounded(DType type, std::string_view what);
Status want_shape(const Type& type, const Shape& wanted, std::string_view what);
Status want_rank(const Type& type, int wanted, std::string_view what);
// Wants a type whose elements can be counted: see checked_shape.hpp.
Status want_countable(const Type& type);
Status want_same_dtype(const Type& a, const Type& b);
// Wants an operand that broadcasts to `wanted` without enlarging it.
Status want_broadcast_to(const Type& type, const Shape& wanted, std::string_view what);

double count(const Type& type);  // its elements
inline AxisRead same(int axis) { return {AxisRead::Kind::same, axis}; }
inline AxisRead reduced() { return {AxisRead::Kind::reduced}; }
inline AxisRead whole(int axis = 0, int axes = 0) { return {AxisRead::Kind::whole, axis, axes}; }
inline AxisRead window(int axis, int64_t begin, int64_t step, int64_t width) {
  return {AxisRead::Kind::window, axis, 1, begin, step, width};
}
inline AxisRead joined(int axis, int64_t begin) { return {AxisRead::Kind::joined, axis, 1, begin}; }
// Says that axis i of the operand is axis i of the result, but for `mixed`, which is read whole.
OperandUse aligned(OperandRole role, const Shape& operand, int mixed = -1);
// Says that the operand broadcasts to the result by numpy's rule.
OperandUse broadcasting(OperandRole role, const Shape& operand, const Shape& result);

}  // namespace rung::infer

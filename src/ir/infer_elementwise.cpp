// Type rules of element-wise ops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/infer.hpp"
#include "ir/pointwise.hpp"

namespace rung::infer {
namespace {

bool is_comparison(BinaryKind kind) { return kind >= BinaryKind::eq && kind <= BinaryKind::ge; }
bool is_logical(BinaryKind kind) { return kind == BinaryKind::logical_and || kind == BinaryKind::logical_or; }
bool needs_float(UnaryKind kind) {
  return kind != UnaryKind::neg && kind != UnaryKind::abs && kind != UnaryKind::square && kind != UnaryKind::relu;
}

}  // namespace

Result<Type> rule(const Unary& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  if (op.kind == UnaryKind::logical_not) {
    if (types[0].dtype != DType::boolean) return fail("got {}, wanted bool", types[0]);
  } else if (needs_float(op.kind)) {
    RUNG_CHECK(want_float(types[0], "operand"));
  } else if (types[0].dtype == DType::boolean) {
    return fail("got {}, wanted numbers", types[0]);
  }
  return types[0];
}

Result<Type> rule(const Binary& op, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_same_dtype(types[0], types[1]));
  RUNG_TRY(Shape shape, broadcast(types[0].shape, types[1].shape));
  DType dtype = types[0].dtype;
  if (is_logical(op.kind) != (dtype == DType::boolean) && !(op.kind == BinaryKind::eq || op.kind == BinaryKind::ne))
    return fail("got {}, wanted {}", dtype, is_logical(op.kind) ? "bool" : "numbers");
  if (op.kind == BinaryKind::pow) RUNG_CHECK(want_float(types[0], "base"));
  return Type{is_comparison(op.kind) ? DType::boolean : dtype, shape};
}

Result<Type> rule(const Cast& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  return Type{op.to, types[0].shape};
}

Result<Type> rule(const Select&, Types types) {
  RUNG_CHECK(want_count(types, 3));
  if (types[0].dtype != DType::boolean) return fail("condition: got {}, wanted bool", types[0]);
  RUNG_CHECK(want_same_dtype(types[1], types[2]));
  RUNG_TRY(Shape values, broadcast(types[1].shape, types[2].shape));
  RUNG_TRY(Shape shape, broadcast(types[0].shape, values));
  return Type{types[1].dtype, shape};
}

Result<Type> rule(const Rope&, Types types) {
  RUNG_CHECK(want_count(types, 3));
  RUNG_CHECK(want_float(types[0], "x"));
  if (types[0].shape.rank() < 1 || types[0].shape.back() % 2 || types[0].shape.back() < 2)
    return fail("x: got {}, wanted an even last dimension of at least 2", types[0]);
  RUNG_CHECK(want_broadcast_to(types[1], types[0].shape, "cos"));
  RUNG_CHECK(want_broadcast_to(types[2], types[0].shape, "sin"));
  return types[0];
}

Result<Type> rule(const GatedMul&, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_float(types[0], "gate"));
  if (!(types[0] == types[1])) return fail("got gate {} and up {}, wanted equal types", types[0], types[1]);
  return types[0];
}

Result<Type> rule(const Pointwise& op, Types types) {
  if (types.empty()) return fail("got no operands, wanted at least one");
  RUNG_CHECK(parse_pointwise(op.program, types.size()));
  Shape shape = types[0].shape;
  for (const Type& type : types) {
    RUNG_TRY(shape, broadcast(shape, type.shape));
  }
  return Type{op.out, shape};
}

}  // namespace rung::infer

// Type rules and semantics of element-wise ops.
// SPDX-License-Identifier: Apache-2.0
#include "ir/functions.hpp"
#include "ir/op_rules.hpp"
#include "ir/pointwise.hpp"

namespace rung::infer {
namespace {

Status want_taken(Takes takes, const Type& type) {
  if (takes == Takes::floats) return want_float(type, "operand");
  if (takes == Takes::compares_any || (takes == Takes::booleans) == (type.dtype == DType::boolean)) return {};
  return fail("got {}, wanted {}", type, takes == Takes::booleans ? "bool" : "numbers");
}

// Broadcasts all operands by numpy's rule; the operand at `i` gives the result its infinities if `carries(i)` says so.
template <class Carries>
Semantics elementwise(const Signature& s, double flops, Carries carries) {
  Semantics out{.flops = flops * count(s.result)};
  for (size_t i = 0; i < s.operands.size(); ++i) {
    out.operands.push_back(broadcasting(OperandRole::data, s.shape(i), s.result.shape));
    if (carries(i)) out.operands.back().infinity = InfinityUse::carries;
  }
  return out;
}

bool carries(BinaryKind kind, size_t at) { return facts_of(kind).carries[at]; }
bool carries(const Select&, size_t at) { return at > 0; }  // the condition is a bool

// Returns whether an infinity gets from a register to the last one, through instructions that all carry it.
bool carries(const PointwiseProgram& program, size_t at) {
  std::vector<bool> masks(program.registers());
  masks[at] = true;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const PointwiseInstruction& instruction = program.instructions[i];
    for (size_t j = 0; j < instruction.arity(); ++j) {
      const auto* from = std::get_if<Register>(&instruction.operands[j]);
      if (from && masks[static_cast<size_t>(from->index)] && instruction.carries(j)) masks[program.inputs + i] = true;
    }
  }
  return masks.back();
}

}  // namespace

Result<Type> rule(const Unary& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  RUNG_CHECK(want_taken(facts_of(op.kind).takes, types[0]));
  return types[0];
}

Semantics semantics(const Unary&, const Signature& s) {
  return elementwise(s, 1, [](size_t) { return false; });
}

Result<Type> rule(const Binary& op, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_same_dtype(types[0], types[1]));
  RUNG_TRY(Shape shape, broadcast(types[0].shape, types[1].shape));
  RUNG_CHECK(want_taken(facts_of(op.kind).takes, types[0]));
  return Type{facts_of(op.kind).compares() ? DType::boolean : types[0].dtype, shape};
}

Semantics semantics(const Binary& op, const Signature& s) {
  return elementwise(s, 1, [&](size_t i) { return carries(op.kind, i); });
}

Result<Type> rule(const Cast& op, Types types) {
  RUNG_CHECK(want_count(types, 1));
  return Type{op.to, types[0].shape};
}

Semantics semantics(const Cast& op, const Signature& s) {
  Semantics out = elementwise(s, 0, [&](size_t) { return is_float(op.to); });
  out.operands[0].any_float = true;
  return out;
}

Result<Type> rule(const Select&, Types types) {
  RUNG_CHECK(want_count(types, 3));
  if (types[0].dtype != DType::boolean) return fail("condition: got {}, wanted bool", types[0]);
  RUNG_CHECK(want_same_dtype(types[1], types[2]));
  RUNG_TRY(Shape values, broadcast(types[1].shape, types[2].shape));
  RUNG_TRY(Shape shape, broadcast(types[0].shape, values));
  return Type{types[1].dtype, shape};
}

Semantics semantics(const Select& op, const Signature& s) {
  return elementwise(s, 0, [&](size_t i) { return carries(op, i); });
}

Result<Type> rule(const Formula& op, Types types) {
  const FormulaFacts& facts = facts_of(op.kind);
  RUNG_CHECK(want_count(types, facts.operands));
  if (types[0].dtype == DType::boolean) return fail("operand: got {}, wanted numbers", types[0]);
  if (facts.takes == FormulaTakes::floats) RUNG_CHECK(want_float(types[0], "operand"));
  if (facts.takes == FormulaTakes::integers && is_float(types[0].dtype))
    return fail("operand: got {}, wanted integers", types[0]);
  if (facts.operands == 1) return types[0];
  RUNG_CHECK(want_same_dtype(types[0], types[1]));
  RUNG_TRY(Shape shape, broadcast(types[0].shape, types[1].shape));
  return Type{types[0].dtype, shape};
}

Semantics semantics(const Formula&, const Signature& s) {
  return elementwise(s, 1, [](size_t) { return false; });
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

Semantics semantics(const Rope&, const Signature& s) {
  const Shape& x = s.result.shape;
  return {.operands = {aligned(OperandRole::data, x, x.rank() - 1), broadcasting(OperandRole::scale, s.shape(1), x),
                       broadcasting(OperandRole::scale, s.shape(2), x)},
          .flops = 3 * count(s.result)};
}

Result<Type> rule(const GatedMul&, Types types) {
  RUNG_CHECK(want_count(types, 2));
  RUNG_CHECK(want_float(types[0], "gate"));
  if (!(types[0] == types[1])) return fail("got gate {} and up {}, wanted equal types", types[0], types[1]);
  return types[0];
}

Semantics semantics(const GatedMul& op, const Signature& s) {
  const OperandUse use = aligned(OperandRole::data, s.result.shape);
  return {.operands = {use, use}, .flops = (1 + (op.activation != Activation::none)) * count(s.result)};
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

Semantics semantics(const Pointwise& op, const Signature& s) {
  const auto program = parse_pointwise(op.program, s.operands.size());
  if (!program) return elementwise(s, 0, [](size_t) { return false; });
  Semantics out =
      elementwise(s, static_cast<double>(program->instructions.size()), [&](size_t i) { return carries(*program, i); });
  for (OperandUse& use : out.operands) use.any_float = true;
  return out;
}

}  // namespace rung::infer

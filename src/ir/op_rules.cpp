// Dispatches to the type rules and semantics, and has their shared parts.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"

#include <algorithm>

#include "ir/checked_shape.hpp"

namespace rung {

Result<Type> infer_type(const Op& op, std::span<const Type> operands) {
  auto type = std::visit([&](const auto& s) { return infer::rule(s, operands); }, op);
  if (!type) return fail_in(type.error(), "{}", name_of(op));
  if (auto status = infer::want_countable(*type); !status) return fail_in(status.error(), "{}", name_of(op));
  return type;
}

std::vector<Type> result_types(const Op& op, std::span<const Type> operands, const Type& first) {
  std::vector<Type> types{first};
  const auto add = [&](const auto& s) {
    if constexpr (requires { s.kMostResults; })
      for (const Type& type : infer::further_types(s, {operands, first})) types.push_back(type);
  };
  std::visit(add, op);
  return types;
}

bool updates(const Op& op, size_t i) {
  return (as<CacheHeads>(op) || as<CachedAttention>(op)) && (i == CacheHeads::kKeys || i == CacheHeads::kValues);
}

Semantics semantics_of(const Op& op, std::span<const Type> operands, const Type& result) {
  return std::visit([&](const auto& s) { return infer::semantics(s, {operands, result}); }, op);
}

bool Semantics::has(OperandRole role) const {
  return std::any_of(operands.begin(), operands.end(), [&](const OperandUse& use) { return use.role == role; });
}

bool Semantics::is_free(int axis) const {
  const auto keeps = [](const OperandUse& use, AxisRead::Kind kind) {
    return use.role != OperandRole::weights && kind != AxisRead::Kind::whole && kind != AxisRead::Kind::window;
  };
  for (const OperandUse& use : operands)
    for (const AxisRead& read : use.axes)
      if (read.leads_to(axis) && !keeps(use, read.kind)) return false;
  return true;
}

namespace infer {

double count(const Type& type) { return static_cast<double>(type.elements()); }

OperandUse aligned(OperandRole role, const Shape& operand, int mixed) {
  OperandUse use{.role = role};
  for (int axis = 0; axis < operand.rank(); ++axis) use.axes.push_back(axis == mixed ? whole(axis, 1) : same(axis));
  return use;
}

OperandUse broadcasting(OperandRole role, const Shape& operand, const Shape& result) {
  OperandUse use{.role = role, .broadcasts = true};
  for (int axis = 0; axis < operand.rank(); ++axis) {
    const int at = axis + result.rank() - operand.rank();
    use.axes.push_back(operand[axis] == result[at] ? same(at) : AxisRead{AxisRead::Kind::broadcast, at});
  }
  return use;
}

Status want_count(Types types, size_t wanted) {
  if (types.size() != wanted) return fail("got {} operands, wanted {}", types.size(), wanted);
  return {};
}
Status want_rounded(DType type, std::string_view what) {
  if (!is_float(type) && type != DType::i8) return fail("got {}={}, wanted a float type or i8", what, type);
  return {};
}

Status want_float(const Type& type, std::string_view what) {
  if (!is_float(type.dtype)) return fail("{}: got {}, wanted a float type", what, type);
  return {};
}
Status want_shape(const Type& type, const Shape& wanted, std::string_view what) {
  if (!(type.shape == wanted)) return fail("{}: got shape {}, wanted {}", what, type.shape, wanted);
  return {};
}
Status want_rank(const Type& type, int wanted, std::string_view what) {
  if (type.shape.rank() != wanted) return fail("{}: got {}, wanted rank {}", what, type, wanted);
  return {};
}
Status want_countable(const Type& type) {
  if (!within_limits(type.shape)) return fail("got a result of {}, wanted at most {} elements", type, kMaxElements);
  return {};
}
Status want_same_dtype(const Type& a, const Type& b) {
  if (a.dtype != b.dtype) return fail("got operands of {} and {}, wanted one dtype", a.dtype, b.dtype);
  return {};
}
Status want_broadcast_to(const Type& type, const Shape& wanted, std::string_view what) {
  auto shape = broadcast(type.shape, wanted);
  if (!shape || !(*shape == wanted))
    return fail("{}: got shape {}, wanted one that broadcasts to {}", what, type.shape, wanted);
  return {};
}

Result<Type> rule(const Input&, Types) { return fail("has no type rule: its type is declared"); }
Result<Type> rule(const Constant&, Types) { return fail("has no type rule: its type is its weight's"); }
Result<Type> rule(const NthResult&, Types) { return fail("has no type rule: its type is its op's"); }

Semantics semantics(const Input&, const Signature&) { return {}; }
Semantics semantics(const Constant&, const Signature&) { return {}; }
Semantics semantics(const NthResult&, const Signature& s) {
  OperandUse use;
  for (int axis = 0; axis < s.shape(0).rank(); ++axis) use.axes.push_back(whole(0, s.result.shape.rank()));
  return {{use}};
}

}  // namespace infer
}  // namespace rung

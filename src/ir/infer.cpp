// Dispatch of the type rules, and the checks they share.
// SPDX-License-Identifier: Apache-2.0
#include "ir/infer.hpp"

#include "ir/checked_shape.hpp"

namespace rung {

Result<Type> infer_type(const Op& op, std::span<const Type> operands) {
  auto type = std::visit([&](const auto& s) { return infer::rule(s, operands); }, op);
  if (!type) return fail("{}: {}", name_of(op), type.error().message);
  if (auto status = infer::want_countable(*type); !status) return fail("{}: {}", name_of(op), status.error().message);
  return type;
}

namespace infer {

Status want_count(Types types, size_t wanted) {
  if (types.size() != wanted) return fail("got {} operands, wanted {}", types.size(), wanted);
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

}  // namespace infer
}  // namespace rung

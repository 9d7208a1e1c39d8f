// Numbers that follow from shapes, which are all known at import.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

Values number(int64_t value) { return {Value(value)}; }

// The two operands of Python's operator, whatever their names.
std::pair<int64_t, int64_t> two(const Call& call) {
  if (call.all().size() != 2) refuse("got {} operands, wanted 2", call.all().size());
  return {call.integer(call.all()[0].first), call.integer(call.all()[1].first)};
}

template <class Relation>
Values truth(std::pair<int64_t, int64_t> sizes, Relation relation) {
  return {Value(relation(sizes.first, sizes.second))};
}

int64_t floor_of_quotient(int64_t a, int64_t b) {
  if (b == 0) refuse("a size divided by 0");
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

Values sym_size(const Call& call) {
  const NodeId x = call.tensor("self");
  return number(call.shape(x)[call.axis(x, call.integer("dim"))]);
}

Values sym_numel(const Call& call) { return number(call.type(call.tensor("self")).elements()); }

// A number that is read from a tensor: known where the tensor is.
Values item(const Call& call) {
  const NodeId x = call.tensor("self");
  const auto value = call.value_of(x);
  if (call.type(x).elements() != 1) refuse("a number of {}, wanted one element", call.type(x));
  if (!value) return {Value(Undecided{})};
  if (is_float(value->dtype())) return {Value(static_cast<double>(convert(*value, DType::f32).as<float>()[0]))};
  return number(convert(*value, DType::i64).as<int64_t>()[0]);
}

Values size_add(const Call& call) {
  const auto [a, b] = two(call);
  return number(a + b);
}
Values size_sub(const Call& call) {
  const auto [a, b] = two(call);
  return number(a - b);
}
Values size_mul(const Call& call) {
  const auto [a, b] = two(call);
  return number(a * b);
}
Values size_floordiv(const Call& call) {
  const auto [a, b] = two(call);
  return number(floor_of_quotient(a, b));
}
Values size_mod(const Call& call) {
  const auto [a, b] = two(call);
  return number(a - floor_of_quotient(a, b) * b);
}
Values size_eq(const Call& call) { return truth(two(call), std::equal_to<>()); }
Values size_ne(const Call& call) { return truth(two(call), std::not_equal_to<>()); }
Values size_ge(const Call& call) { return truth(two(call), std::greater_equal<>()); }
Values size_le(const Call& call) { return truth(two(call), std::less_equal<>()); }
Values size_gt(const Call& call) { return truth(two(call), std::greater<>()); }
Values size_lt(const Call& call) { return truth(two(call), std::less<>()); }
Values size_max(const Call& call) {
  const auto [a, b] = two(call);
  return number(std::max(a, b));
}
Values size_min(const Call& call) {
  const auto [a, b] = two(call);
  return number(std::min(a, b));
}
Values size_not(const Call& call) { return {Value(!call.flag(call.all().at(0).first))}; }
Values size_choice(const Call& call) { return number(call.integer(call.flag("b") ? "t" : "f")); }

// The exporter asserts what the author's program takes for granted of sizes.
Values assert_scalar(const Call& call) {
  const Value* claim = call.find("self");
  const bool* holds = claim ? std::get_if<bool>(&claim->is) : nullptr;
  if (holds && !*holds) refuse("{}", call.text("assert_msg", "an assertion of sizes fails"));
  return {};
}
Values size_neg(const Call& call) { return number(-call.integer(call.all().at(0).first)); }

}  // namespace rung::pt2::operators

// The element-wise functions: one list, which names, numbers, types and both kinds of expressions follow.
// SPDX-License-Identifier: Apache-2.0
#include "ir/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/cpu/pointwise/pointwise.hpp"
#include "kernels/elementwise_program.hpp"
#include "reference/scalar.hpp"

namespace rung {
namespace {

template <class Kind, class Facts>
std::vector<Kind> all_of(std::span<const Facts> functions) {
  std::vector<Kind> all;
  for (size_t i = 0; i < functions.size(); ++i) all.push_back(static_cast<Kind>(i));
  return all;
}
std::vector<UnaryKind> unary_kinds() { return all_of<UnaryKind>(unary_functions()); }
std::vector<BinaryKind> binary_kinds() { return all_of<BinaryKind>(binary_functions()); }

TEST(ElementwiseFunctions, HaveNamesThatParseBack) {
  std::set<std::string_view> names;
  for (UnaryKind kind : unary_kinds()) {
    const auto op = op_named(name_of(kind));
    ASSERT_TRUE(op && as<Unary>(*op)) << name_of(kind);
    EXPECT_EQ(as<Unary>(*op)->kind, kind);
    EXPECT_TRUE(names.insert(name_of(kind)).second) << name_of(kind);
  }
  for (BinaryKind kind : binary_kinds()) {
    const auto op = op_named(name_of(kind));
    ASSERT_TRUE(op && as<Binary>(*op)) << name_of(kind);
    EXPECT_EQ(as<Binary>(*op)->kind, kind);
    EXPECT_TRUE(names.insert(name_of(kind)).second) << name_of(kind);
  }
}

TEST(ElementwiseFunctions, HaveCodesOfTheirOwn) {
  std::set<Code> codes{Code::select, Code::round_bf16, Code::round_f16, Code::copy};
  const size_t others = codes.size();
  for (UnaryKind kind : unary_kinds()) {
    EXPECT_EQ(operands_of(code_of(kind)), 1) << name_of(kind);
    codes.insert(code_of(kind));
  }
  for (BinaryKind kind : binary_kinds()) {
    EXPECT_EQ(operands_of(code_of(kind)), 2) << name_of(kind);
    codes.insert(code_of(kind));
  }
  EXPECT_EQ(codes.size(), unary_kinds().size() + binary_kinds().size() + others);
  EXPECT_EQ(operands_of(code_of(Select{})), 3);
  EXPECT_EQ(operands_of(Code::round_bf16), 1);
}

TEST(ElementwiseFunctions, ThatCommuteDoSoForNanToo) {
  for (BinaryKind kind : binary_kinds()) {
    if (!facts_of(kind).commutes) continue;
    for (float x : {0.0f, 1.0f, 3.5f, INFINITY, NAN})
      for (float y : {1.0f, -2.0f, NAN}) {
        const double ab = reference::apply(kind, double{x}, double{y}),
                     ba = reference::apply(kind, double{y}, double{x});
        EXPECT_TRUE(ab == ba || (std::isnan(ab) && std::isnan(ba))) << name_of(kind) << " of " << x << ", " << y;
      }
  }
}

TEST(ElementwiseFunctions, OfMaskedOperandsCarryInfinity) {
  for (BinaryKind kind : binary_kinds()) {
    const bool gives_floats = !facts_of(kind).compares() && facts_of(kind).takes != Takes::booleans;
    const double left = reference::apply(kind, -double{INFINITY}, 0.5);
    const double right = reference::apply(kind, 0.5, -double{INFINITY});
    EXPECT_TRUE(!facts_of(kind).carries[0] || (gives_floats && left == -INFINITY)) << name_of(kind);
    EXPECT_TRUE(!facts_of(kind).carries[1] || (gives_floats && right == -INFINITY)) << name_of(kind);
  }
}

// The f32 expressions against the f64 ones: a wrong one is off by far more.
void expect_close(std::string_view name, double got, double right) {
  if (std::isnan(right))
    EXPECT_TRUE(std::isnan(got)) << name;
  else
    EXPECT_LE(std::abs(got - right), 2e-6 * std::max(1.0, std::abs(right))) << name << ": " << got << " for " << right;
}

TEST(ElementwiseFunctions, AgreeWithTheReferenceOnEveryValue) {
  const float values[] = {-3.0f, -0.5f, 0.0f, 0.25f, 1.0f, 2.5f, 7.0f, NAN};
  for (float x : values) {
    float got = -77;
    for (UnaryKind kind : unary_kinds()) {
      cpu::apply_scalar(code_of(kind), &got, 1, &x, nullptr);
      const double right = reference::apply(kind, double{x});
      if (std::isinf(right))
        EXPECT_EQ(got, right) << name_of(kind);
      else
        expect_close(name_of(kind), got, right);
    }
    for (BinaryKind kind : binary_kinds())
      for (float y : {-1.5f, 0.5f, 1.0f, NAN}) {
        cpu::apply_scalar(code_of(kind), &got, 1, &x, &y);
        const double right = reference::apply(kind, double{x}, double{y});
        if (std::isinf(right))
          EXPECT_EQ(got, right) << name_of(kind);
        else
          expect_close(name_of(kind), got, right);
      }
  }
}

TEST(ElementwiseFunctions, ThatProductsHaveAreFunctionsOfTheirOwn) {
  int activations = 0;
  for (UnaryKind kind : unary_kinds()) {
    const auto activation = activation_of(kind);
    if (!activation) continue;
    ++activations;
    EXPECT_EQ(unary_of(*activation), kind);
    EXPECT_EQ(name_of(*activation), name_of(kind));
    EXPECT_EQ(activation_named(name_of(kind)), activation);
    EXPECT_EQ(reference::apply(*activation, 0.75), reference::apply(kind, 0.75));
  }
  EXPECT_GE(activations, 5);
  EXPECT_EQ(activation_named("none"), Activation::none);
  EXPECT_FALSE(activation_named("exp"));
  EXPECT_FALSE(activation_named("nothing"));
  EXPECT_FALSE(unary_of(Activation::none));
}

}  // namespace
}  // namespace rung

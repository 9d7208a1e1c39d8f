// Which products of quantised files become products of i8, with what bias, and which stay in floats.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::recognise_integer_products;

const std::string kByteFactors =
    "q: i8[3,8] = input()\nw: i8[4,8] = constant()\ns: f32[] = constant()\nt: f32[] = constant()\n";
const std::string kDequantised = kByteFactors + "x = mul(cast(q, to=f32), s)\nv = mul(cast(w, to=f32), t)\n";

void expect_integers(const std::string& text, size_t products = 1) {
  const Graph before = graph_of(text), after = run_pass(recognise_integer_products, before).graph;
  size_t found = 0;
  for (const NodeId id : after.order())
    if (const auto* linear = after.as<Linear>(id)) found += linear->has(LinearSlot::scale);
  EXPECT_EQ(found, products) << text;
  expect_same_values(before, after);
}

TEST(RecogniseIntegerProducts, DequantisedFactorsBecomeOneProductOfBytes) {
  expect_integers(kDequantised + "y = linear(x, v)");
  const std::string with_bias = kDequantised + "b: f32[4] = constant()\ny = linear(x, v, b, slots=bias)";
  expect_integers(with_bias);
  const Graph after = run_pass(recognise_integer_products, graph_of(with_bias)).graph;
  const std::vector<NodeId>& operands = after[after.outputs()[0].node].operands;
  ASSERT_EQ(operands.size(), 4u);
  EXPECT_TRUE(after.as<Input>(operands[0]));
  EXPECT_EQ(after.type(operands[1]), (Type{DType::i8, {4, 8}}));
}
TEST(RecogniseIntegerProducts, RowsOfWeightsMayHaveScales) {
  expect_integers(kByteFactors +
                  "u: f32[4,1] = constant()\nx = mul(s, cast(q, to=f32))\ny = linear(x, mul(cast(w, to=f32), u))");
  const std::string columns =
      "q: i8[3,8] = input()\nw: i8[8,4] = constant()\ns: f32[] = constant()\nu: f32[4] = constant()\n";
  expect_integers(columns +
                  "x = mul(cast(q, to=f32), s)\n"
                  "y = linear(x, transpose(mul(cast(w, to=f32), u), permutation=[1,0]))");
}
TEST(RecogniseIntegerProducts, ZeroPointsBecomeABiasOfIntegers) {
  const std::string zeros = "z: f32[] = constant(values=[7])\nx = mul(sub(cast(q, to=f32), z), s)\n";
  expect_integers(kByteFactors + zeros +
                  "b: f32[4] = constant()\ny = linear(x, mul(cast(w, to=f32), t), b, slots=bias)");
  expect_integers(
      "q: u8[3,8] = input()\nw: i8[4,8] = constant()\ns: f32[] = constant()\nz: f32[] = constant(values=[131])\n"
      "x = mul(sub(cast(q, to=f32), z), s)\ny = linear(x, mul(cast(w, to=f32), s))");
}
TEST(RecogniseIntegerProducts, MiddlesOfUnsignedBytesNeedNoBias) {
  const Graph after = run_pass(recognise_integer_products,
                               graph_of("q: u8[3,8] = input()\nw: u8[4,8] = constant()\ns: f32[] = constant()\n"
                                        "z: f32[] = constant(values=[128])\nx = mul(sub(cast(q, to=f32), z), s)\n"
                                        "y = linear(x, mul(sub(cast(w, to=f32), z), s))"))
                          .graph;
  const NodeId y = after.outputs()[0].node;
  ASSERT_TRUE(after.as<Linear>(y));
  EXPECT_TRUE(after.as<Linear>(y)->has(LinearSlot::scale));
  EXPECT_FALSE(after.as<Linear>(y)->has(LinearSlot::bias));
}
TEST(RecogniseIntegerProducts, ValuesAreSeenThroughViews) {
  expect_integers(kByteFactors +
                  "x = reshape(mul(cast(q, to=f32), s), shape=[1,3,8])\ny = linear(x, mul(cast(w, to=f32), t))");
  expect_integers(
      "q: i8[2,3,4] = input()\nw: i8[5,8] = constant()\ns: f32[] = constant()\n"
      "x = reshape(transpose(mul(cast(q, to=f32), s), permutation=[1,0,2]), shape=[3,8])\n"
      "y = linear(x, mul(cast(w, to=f32), s))");
}

// What MatMulInteger is imported as, with a zero point that is known when the plan runs.
TEST(RecogniseIntegerProducts, ScaledSumsOfIntegersStayExact) {
  expect_integers(kByteFactors +
                  "z: u8[] = input()\nx = sub(cast(q, to=f32), cast(z, to=f32))\n"
                  "y = mul(cast(cast(linear(x, cast(w, to=f32)), to=i32), to=f32), s)");
  const std::string parts = kByteFactors +
                            "x = cast(q, to=f32)\nv = cast(w, to=f32)\n"
                            "a = linear(slice(x, axis=1, begin=0, end=5), slice(v, axis=1, begin=0, end=5))\n";
  expect_integers(parts +
                  "b = linear(slice(x, axis=1, begin=5, end=8), slice(v, axis=1, begin=5, end=8))\n"
                  "y = mul(cast(add(cast(a, to=i32), cast(b, to=i32)), to=f32), s)");
  expect_integers(parts +
                      "b = linear(slice(x, axis=1, begin=4, end=8), slice(v, axis=1, begin=4, end=8))\n"
                      "y = mul(cast(add(cast(a, to=i32), cast(b, to=i32)), to=f32), s)",
                  0);
  expect_integers(parts +
                      "b = linear(slice(x, axis=1, begin=5, end=7), slice(v, axis=1, begin=5, end=7))\n"
                      "y = mul(cast(add(cast(a, to=i32), cast(b, to=i32)), to=f32), s)",
                  0);
}
// A value that is added to itself 60 times in a row is a sum of 2^60 terms.
TEST(RecogniseIntegerProducts, LeavesSumsOfManyTermsAlone) {
  std::string text = kByteFactors + "x0 = cast(linear(cast(q, to=f32), cast(w, to=f32)), to=i32)\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("x{} = add(x{}, x{})\n", i + 1, i, i);
  expect_integers(text + "y = mul(cast(x60, to=f32), s)", 0);
}
TEST(RecogniseIntegerProducts, IntegersAddedToSumsAreTheirBias) {
  const std::string sums = "z: f32[] = constant(values=[5])\na = linear(sub(cast(q, to=f32), z), cast(w, to=f32))\n";
  const std::string scaled = "y = mul(cast(add(cast(a, to=i32), b), to=f32), s)";
  expect_integers(kByteFactors + sums + "b: i32[4] = constant()\n" + scaled);
  expect_integers(kByteFactors + sums + "b: i32[1,4] = constant()\n" + scaled);
  expect_integers(kByteFactors + sums + "b: i32[3,1] = constant()\n" + scaled, 0);
  expect_integers(kByteFactors + sums + "b: i32[3,4] = input()\n" + scaled, 0);
}
// Rows that sum in f32 take no bias of integers, so that no inexact row takes the product.
TEST(RecogniseIntegerProducts, ExactSumsAlwaysHaveABiasOfIntegers) {
  const Graph after =
      run_pass(recognise_integer_products,
               graph_of(kByteFactors + "y = mul(cast(cast(linear(cast(q, to=f32), cast(w, to=f32)), to=i32), "
                                       "to=f32), s)"))
          .graph;
  const NodeId y = after.outputs()[0].node;
  ASSERT_TRUE(after.as<Linear>(y));
  const NodeId* bias = after.as<Linear>(y)->slots.find(after[y].operands, LinearSlot::bias);
  ASSERT_TRUE(bias);
  EXPECT_EQ(after.type(*bias), (Type{DType::i32, {4}}));
}

TEST(RecogniseIntegerProducts, KeepsFloats) {
  for (const char* other : {
           "y = linear(x, v2:f32[4,8])",                                        // a weight that is no integer
           "r: f32[3,1] = constant()\ny = linear(mul(cast(q, to=f32), r), v)",  // a scale for each row of x
           "u: f32[1,8] = constant()\ny = linear(x, mul(cast(w, to=f32), u))",  // one for each column of w
           "y = linear(x, v, activation=relu)",
           "y = linear(mul(cast(i:i32[3,8], to=f32), s), v)",
           "y = matmul(x, transpose(v, permutation=[1,0]))",
           "h: f32[] = constant(values=[0.5])\ny = linear(mul(sub(cast(q, to=f32), h), s), v)",  // not between numbers
           "h: f32[] = input()\ny = linear(mul(sub(cast(q, to=f32), h), s), v)",
           "h: f32[] = constant(values=[0.5])\ny = linear(x, mul(sub(cast(w, to=f32), h), t))",
       })
    expect_unchanged(recognise_integer_products, kDequantised + other);
  expect_unchanged(
      recognise_integer_products, "q: i8[3,8] = input()\nw: u8[4,8] = constant(values=[" + [] {
        std::string v = "200";
        for (int i = 1; i < 32; ++i) v += ",3";
        return v;
      }() + "])\ns: f32[] = constant()\ny = linear(mul(cast(q, to=f32), s), mul(cast(w, to=f32), s))");
}

}  // namespace
}  // namespace rung::test

// Which products with constants are linears, and which sums their biases.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using namespace passes;

TEST(RecogniseLinear, ProductWithAConstantMatrixBecomesALinear) {
  expect_rewrite(recognise_linear,
                 "w: f32[8,4] = constant()\nb: f32[4] = constant()\ny = add(b, matmul(x:f32[3,8], w))",
                 "y = linear(x, transpose(w, permutation=[1,0]), b, slots=bias)");
}
TEST(RecogniseLinear, KeepsProductsOfTwoValues) {
  expect_unchanged(recognise_linear, "y = matmul(x:f32[3,8], z:f32[8,4])");
}
TEST(RecogniseLinear, KeepsSumsWithAColumn) {
  expect_unchanged(recognise_linear,
                   "w: f32[4,8] = constant()\nb: f32[3,1] = constant()\ny = add(linear(x:f32[3,8], w), b)");
}
TEST(RecogniseLinear, KeepsALinearThatHasAnotherReader) {
  expect_unchanged(
      recognise_linear,
      "w: f32[4,8] = constant()\nb: f32[4] = constant()\nh = linear(x:f32[3,8], w)\ny = add(h, b)\nreturn y, h");
}

TEST(RecogniseLinear, KeepsABiasAddedAfterAnotherEpilogue) {
  const std::string weights = "w: f32[4,8] = constant()\nb: f32[4] = constant()\nc: f32[2] = constant()\n";
  for (const char* linear : {"linear(x:f32[3,8], w, activation=relu)", "linear(x:f32[3,8], w, b, slots=bias)",
                             "linear(x:f32[3,8], w, r:f32[3,4], slots=residual)",
                             "linear(x:f32[3,8], w, p:f32[3,2], p, slots=cos+sin, rotated_heads=1)"})
    expect_unchanged(recognise_linear, fmt::format("{}y = add({}, b)", weights, linear));
  expect_unchanged(recognise_linear, weights + "y = add(linear(x:f32[3,8], w, gated=true), c)");
}
TEST(RecogniseLinear, KeepsABiasThatIsComputed) {
  expect_unchanged(recognise_linear, "w: f32[4,8] = constant()\ny = add(linear(x:f32[3,8], w), b:f32[4])");
}
TEST(RecogniseLinear, KeepsABiasThatMakesMoreColumns) {
  expect_unchanged(recognise_linear,
                   "w: f32[1,8] = constant()\nb: f32[4] = constant()\ny = add(linear(x:f32[3,8], w), b)");
}
TEST(RecogniseLinear, KeepsTheRowsThatItsAuthorGave) {
  const std::string weights = "w: f32[4,8] = constant()\nb: f32[4] = constant()\n";
  expect_rewrite(recognise_linear,
                 weights + "y = reshape(add(linear(reshape(x:f32[2,3,8], shape=[6,8]), w), b), shape=[2,3,4])",
                 "y = linear(x, w, b, slots=bias)");
  expect_rewrite(recognise_linear,
                 weights + "y = reshape(linear(reshape(x:f32[2,3,2,4], shape=[6,8]), w), shape=[3,2,4])",
                 "y = linear(reshape(x, shape=[3,2,8]), w)");
  for (const char* other :
       {"y = reshape(linear(reshape(x:f32[2,24], shape=[6,8]), w), shape=[2,12])",
        "y = reshape(linear(x:f32[6,8], w), shape=[2,3,4])",
        "y = reshape(linear(reshape(x:f32[2,3,8], shape=[6,8]), w, activation=relu), shape=[2,3,4])",
        "h = linear(reshape(x:f32[2,3,8], shape=[6,8]), w)\ny = reshape(h, shape=[2,3,4])\nreturn y, h"})
    expect_unchanged(recognise_linear, weights + other);
}
TEST(RecogniseLinear, KeepsProductsWithSeveralMatrices) {
  expect_unchanged(recognise_linear, "w: f32[2,8,4] = constant()\ny = matmul(x:f32[2,3,8], w)");
}

}  // namespace
}  // namespace rung::test

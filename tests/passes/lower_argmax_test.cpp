// The largest of rows by one sweep instead of top_k, and what regions take in of it.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::form_regions;
using passes::lower_argmax;

const std::string kPlace = "t = top_k(x:f32[3,4])\ny = result(t)\n";

TEST(LowerArgmax, PlacesAloneAreOneSweep) {
  expect_rewrite(lower_argmax, kPlace + "return y", "y = region(x, program=\"r1=row_argmax(r0);return r1:i64\")");
  expect_equivalent(lower_argmax, "y = result(top_k(x:bf16[2,3,40]))");
}
TEST(LowerArgmax, TheLargestItselfIsAnotherResult) {
  expect_rewrite(lower_argmax, kPlace + "z = neg(t)\nreturn y, z",
                 "y = result(region(x, program=\"r1=row_max(r0);r2=row_argmax(r0);return r1:f32,r2:i64\")); "
                 "z = neg(region(x, program=\"r1=row_max(r0);r2=row_argmax(r0);return r1:f32,r2:i64\"))");
  expect_equivalent(lower_argmax, kPlace + "return y, t");
  expect_equivalent(lower_argmax, "t = top_k(x:f16[3,4])\ny = result(t)\nreturn y, t");
}
TEST(LowerArgmax, KeepsSeveralPlacesAndIntegers) {
  expect_unchanged(lower_argmax, "y = result(top_k(x:f32[3,4], k=2))");
  expect_unchanged(lower_argmax, "y = result(top_k(x:i64[3,4]))");
  expect_unchanged(lower_argmax, "y = top_k(x:f32[3,4])");
}
TEST(LowerArgmax, KeepsWhatNoRegionFinds) {
  const KernelQuery no = [](const Op& op, std::span<const Type>) { return as<Region>(op) ? reject("no") : accept(); };
  EXPECT_EQ(count_ops(run_pass(lower_argmax, graph_of(kPlace + "return y"), no).graph, "top_k"), 1u);
}
TEST(LowerArgmax, RegionsTakeInWhatFindsPlaces) {
  const PassRun lowered = run_pass(lower_argmax, graph_of("y = result(top_k(neg(x:f32[3,4])))"));
  const PassRun formed = run_pass(form_regions, lowered.graph);
  EXPECT_EQ(expression(formed.graph), "y = region(x, program=\"r1=neg(r0);r2=row_argmax(r1);return r2:i64\")");
  expect_same_values(lowered.graph, formed.graph);
}
TEST(FormRegions, TakesInRegionsOfOneResult) {
  const std::string text =
      "r = region(x:f32[3,4], w:f32[3,1], program=\"r2=mul(r0,r1);r3=row_sum(r2);r4=exp(r3);return r3:bf16\")\n"
      "y = mul(add(x, x), cast(r))";
  expect_equivalent(form_regions, text);
  EXPECT_EQ(count_ops(run_pass(form_regions, graph_of(text)).graph, "region"), 1u);
}
TEST(FormRegions, LeavesPlacesThatAreReadOutside) {
  expect_unchanged(form_regions,
                   "r = region(x:f32[3,4], program=\"r1=row_argmax(r0);return r1:i64\")\ny = cast(r, to=f32)");
}
TEST(FormRegions, LeavesRegionsOfTwoResults) {
  expect_unchanged(form_regions,
                   "r = region(x:f32[3,4], program=\"r1=row_sum(r0);return r1:f32,r1:bf16\")\ny = exp(r)\n"
                   "z = result(r)\nreturn y, z");
}

}  // namespace
}  // namespace rung::test

// Regions equal the chain of ops that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Inputs kRegionOperands{{"a", f32({2, 3}, {0.1f, -2, 3, 0.25f, 5, -0.7f})}, {"b", f32({3}, {0.3f, 1.5f, -1})}};

std::string region_text(const std::string& operands, const std::string& program) {
  return fmt::format("region({}, program=\"{}\")", operands, program);
}

// Both results of a region.
std::vector<Tensor> results_of(const std::string& region, const Inputs& inputs) {
  auto graph = parse_graph(fmt::format("v = {}\nreturn v=v, w=result(v)", region));
  EXPECT_TRUE(graph) << graph.error().message;
  auto values = evaluate(*graph, inputs);
  EXPECT_TRUE(values) << values.error().message;
  return *values;
}

TEST(RegionReference, EqualsTheChainOfOps) {
  Tensor chain = run("softmax(add(a:f32[2,3], b:f32[3]))", kRegionOperands);
  Tensor fused = run(region_text("a:f32[2,3], b:f32[3]",
                                 "r2=add(r0,r1);r3=row_max(r2);r4=sub(r2,r3);r5=exp(r4);r6=row_sum(r5);r7=div(r5,r6);"
                                 "return r7:f32"),
                     kRegionOperands);
  expect_values(fused, values_of(chain), 1e-7);
}

TEST(RegionReference, ReducesRowsInEveryWay) {
  auto value = [](const char* kind) {
    return run(region_text("a:f32[2,3]", fmt::format("r1={}(r0);return r1:f32", kind)), kRegionOperands);
  };
  expect_values(value("row_max"), {3, 5}, 0);
  expect_values(value("row_min"), {-2, -0.7f}, 0);
  expect_values(value("row_argmax"), {2, 1}, 0);
  expect_values(value("row_sum"), {1.1, 4.55}, 1e-6);
  expect_values(value("row_mean"), {1.1 / 3, 4.55 / 3}, 1e-6);
  expect_values(value("row_product"), {-0.6, -0.875}, 1e-6);
}

TEST(RegionReference, ScansEachRow) {
  const Inputs inputs{{"x", f32({2, 3}, {1, 2, 3, 4, -5, 0.5f})}};
  expect_values(run(region_text("x:f32[2,3]", "r1=row_cumsum(r0);return r1:f32"), inputs), {1, 3, 6, 4, -1, -0.5f}, 0);
  expect_values(run(region_text("x:f32[2,3]", "r1=row_cumprod(r0);return r1:f32"), inputs), {1, 2, 6, 4, -20, -10}, 0);
  expect_values(run(region_text("x:f32[2,3]", "r1=row_max(r0);r2=row_cumsum(r1);return r2:f32"), inputs),
                {3, 6, 9, 4, 8, 12}, 0);
}

TEST(RegionReference, GivesSeveralResultsInTypesOfTheirOwn) {
  const auto results =
      results_of(region_text("a:f32[2,3]", "r1=row_argmax(r0);r2=sub(r0,r1);return r2:bf16,r1:i64"), kRegionOperands);
  EXPECT_EQ(results[0].type(), (Type{DType::bf16, {2, 3}}));
  EXPECT_EQ(results[1].type(), (Type{DType::i64, {2, 1}}));
  expect_values(results[0], {-1.9, -4, 1, -0.75, 4, -1.7}, 0.01);
  EXPECT_THAT(results[1].as<int64_t>(), ElementsAre(2, 1));
}

TEST(RegionReference, NanReachesEveryReduction) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Inputs inputs{{"x", f32({1, 4}, {7, nan, 9, nan})}};
  for (const char* kind : {"row_max", "row_min", "row_sum", "row_mean", "row_product"})
    EXPECT_TRUE(
        std::isnan(values_of(run(region_text("x:f32[1,4]", fmt::format("r1={}(r0);return r1:f32", kind)), inputs))[0]))
        << kind;
  EXPECT_THAT(values_of(run(region_text("x:f32[1,4]", "r1=row_argmax(r0);return r1:f32"), inputs)), ElementsAre(1));
}

TEST(RegionReference, TakesTheFirstOfEqualPlaces) {
  const Inputs inputs{{"x", f32({1, 4}, {7, 9, 9, -1})}};
  EXPECT_THAT(values_of(run(region_text("x:f32[1,4]", "r1=row_argmax(r0);return r1:f32"), inputs)), ElementsAre(1));
}

TEST(RegionReference, RowsBroadcastBackToElements) {
  const Inputs inputs{{"x", f32({2, 1}, {2, 3})}, {"y", f32({2}, {1, 10})}};
  expect_values(
      run(region_text("x:f32[2,1], y:f32[2]", "r2=mul(r0,r1);r3=row_sum(r0);r4=add(r2,r3);return r4:f32"), inputs),
      {6, 24, 9, 36});
}

TEST(RegionReference, NamesABadProgram) {
  EXPECT_THAT(error_of(region_text("a:f32[2,3]", "r1=frobnicate(r0);return r1:f32"), kRegionOperands),
              HasSubstr("frobnicate"));
}

}  // namespace
}  // namespace rung

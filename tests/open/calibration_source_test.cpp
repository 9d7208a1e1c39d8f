// A calibration is used with the weights that it was measured on, or refused.
// SPDX-License-Identifier: Apache-2.0
#include "open/calibration_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr const char* kModel = "w: f32[4,4] = constant()\ny = linear(x:f32[1,4], w)\nreturn y=y";

// The model with one number of its weight changed.
Graph with_other_weight() {
  auto graph = parse_graph(kModel, [](const std::string& name, const Type& type) {
    Tensor value = random_tensor(name, type);
    value.as<float>()[15] += 0.001f;
    return std::make_shared<Literal>(name, value);
  });
  return *graph;
}

NamedTensors input(float first) { return {{"x", Tensor::of<float>({1, 4}, {first, 2, 3, 4})}}; }

class CalibrationSources : public ::testing::Test {
 protected:
  CalibrationSources() {
    auto source = calibration_source(graph_of(kModel), {input(1)});
    EXPECT_TRUE(source) << source.error().message;
    recipe.calibration["w"] = 3;
    recipe.calibrated_on = *source;
  }
  Recipe recipe;
};

TEST_F(CalibrationSources, AreTheSameForTheSame) {
  EXPECT_EQ(*calibration_source(graph_of(kModel), {input(1)}), *recipe.calibrated_on);
  EXPECT_TRUE(check_calibration(recipe, graph_of(kModel), {}));
  EXPECT_TRUE(check_calibration(recipe, graph_of(kModel), {input(1)}));
}

TEST_F(CalibrationSources, DifferByOneNumber) {
  const auto weights = calibration_source(with_other_weight(), {input(1)});
  EXPECT_NE(weights->weights, recipe.calibrated_on->weights);
  EXPECT_EQ(weights->inputs, recipe.calibrated_on->inputs);
  const auto inputs = calibration_source(graph_of(kModel), {input(7)});
  EXPECT_EQ(inputs->weights, recipe.calibrated_on->weights);
  EXPECT_NE(inputs->inputs, recipe.calibrated_on->inputs);
}

TEST_F(CalibrationSources, OfOtherWeightsAreRefused) {
  const Status refused = check_calibration(recipe, with_other_weight(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::mismatch);
  EXPECT_THAT(refused.error().message,
              HasSubstr("'calibration': it was measured with weights of hash " + recipe.calibrated_on->weights));
  EXPECT_TRUE(check_calibration(recipe, graph_of(kModel), {input(7)})) << "other inputs are no mistake";
}

TEST_F(CalibrationSources, AreNotAskedOfAPersonsCalibration) {
  recipe.calibrated_on.reset();
  EXPECT_TRUE(check_calibration(recipe, with_other_weight(), {}));
  Recipe none{.calibrated_on = CalibrationSource{"0", "0"}};
  EXPECT_TRUE(check_calibration(none, with_other_weight(), {})) << "there is no calibration";
}

}  // namespace
}  // namespace rung

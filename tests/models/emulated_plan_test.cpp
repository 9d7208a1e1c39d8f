// Plans on AMD's machine code, launch by launch: products of 16-bit operands are made by matrix instructions, and no
// row takes what it does slowly.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "device/gpu/emulated.hpp"
#include "device/gpu/gpu.hpp"
#include "models/policy.hpp"
#include "open/recipe.hpp"
#include "session/recorder.hpp"
#include "session/states.hpp"
#include "support/device.hpp"

namespace rung {
namespace {

class EmulatedPlan : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto target = open_target(GetParam());
    if (!target) GTEST_SKIP() << target.error().message;
    target_ = *target;
  }

  // Runs the plan's launches in order, and counts the products of 16-bit operands.
  void expect_matrix_products(const Subject& subject, const Recipe& recipe, NamedTensors inputs) {
    auto built = build_plan(subject.model.graph, recipe, {.target = target_});
    ASSERT_TRUE(built) << built.error().message;
    attach_model(built->plan, subject);
    const auto shared = std::make_shared<const Plan>(std::move(built->plan));
    const Plan& plan = *shared;
    auto states = States::make(PlanSet(shared));
    ASSERT_TRUE(states) << states.error().message;
    auto recorder = make_gpu_recorder(plan, **states, true);
    ASSERT_TRUE(recorder) << recorder.error().message;
    for (const PlanInput& input : plan.inputs) {
      const Tensor& value = inputs.contains(input.name) ? inputs.at(input.name) : *input.value;
      ASSERT_TRUE((*recorder)->write(input.buffer, value.data(), value.bytes())) << input.name;
    }
    gpu::take_emulated_counts(target_->gpu->context());
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      const Status ran = (*recorder)->run_step(i);
      ASSERT_TRUE(ran) << ran.error().message;
      const auto counts = gpu::take_emulated_counts(target_->gpu->context());
      EXPECT_NE(target_->kernel_named(step.choice.kernel)->role, Role::fallback) << step.problem;
      if (!is_product(step)) continue;
      EXPECT_GT(counts.matrix, 0u) << step.choice.kernel << ": " << step.problem;
      ++products_;
    }
  }
  int products_ = 0;

 private:
  static bool is_product(const Step& step) {
    const auto family = op_family(step.op);
    return (family == "linear" || family == "matmul" || family == "attention") &&
           size_of(step.inputs[0].view.dtype) == 2;
  }
  const Target* target_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(All, EmulatedPlan, ::testing::Values("emu:gfx942", "emu:gfx950"),
                         [](const auto& device) { return std::string(device.param).substr(4); });

TEST_P(EmulatedPlan, OfPi0MultipliesByMatrixInstructions) {
  for (const char* name : {"pi0_tiny", "pi0_tiny_masked"}) {
    SCOPED_TRACE(name);
    const Policy policy(name);
    expect_matrix_products(policy.subject({}), default_recipe(0), policy.inputs());
  }
  EXPECT_GT(products_, 100);
}

TEST_P(EmulatedPlan, OfBertMultipliesByMatrixInstructions) {
  const Policy bert("bert_tiny");
  Tensor ids({DType::i64, {1, 9}});
  for (size_t i = 0; i < 9; ++i) ids.as<int64_t>()[i] = static_cast<int64_t>(i + 1);
  expect_matrix_products(bert.subject({.shapes = {{"input_ids", Shape{1, 9}}}}), default_recipe(0, DType::bf16),
                         {{"input_ids", ids}});
  EXPECT_GE(products_, 10);
}

}  // namespace
}  // namespace rung

// Pi0 policies as plans of a GPU, eager and captured, against the actions that PyTorch computed.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "models/policy.hpp"
#include "open/recipe.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

// Fewer under compute-sanitizer, where the thousand took longer than all other tests together.
int wanted_replays() {
  const char* text = std::getenv("RUNG_TEST_REPLAYS");
  const int replays = text ? std::atoi(text) : 1000;
  EXPECT_GT(replays, 0) << "RUNG_TEST_REPLAYS: got " << text << ", wanted a count";
  return replays;
}

class GpuPi0Plan : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto target = open_target(gpu_word());
    if (!target) GTEST_SKIP() << target.error().message;
    target_ = *target;
  }
  Session session(const Subject& subject, const Recipe& recipe) { return session_of(subject, recipe, *target_); }
  double error(Session& session) {
    return relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32"));
  }
  double limit() const { return 1.25 * relative_l2(policy.expected("actions_bf16"), policy.expected("actions_f32")); }
  Policy policy{GetParam()};
  const Target* target_ = nullptr;
};

TEST_P(GpuPi0Plan, GivesPyTorchsActionsInF32) {
  for (const Recipe& recipe : {Recipe{.threads = 0}, default_recipe(0)}) {
    Session run = session(policy.subject(), recipe);
    EXPECT_LE(error(run), 1e-5);
  }
}

TEST_P(GpuPi0Plan, MatchesPyTorchInF32WithFrozenMasks) {
  Session run = session(policy.subject(kF32, policy.masks()), default_recipe(0));
  EXPECT_LE(error(run), 1e-5);
}

TEST_P(GpuPi0Plan, StaysWithinBoundsInTheCheckpointsTypes) {
  for (const Recipe& recipe : {Recipe{.threads = 0}, default_recipe(0)}) {
    Session run = session(policy.subject({}), recipe);
    EXPECT_LE(error(run), limit());
  }
}

TEST_P(GpuPi0Plan, StaysWithinTheBoundWithTheRungPrecision) {
  Session run = session(policy.subject(), default_recipe(0, DType::bf16));
  EXPECT_LE(error(run), limit());
}

TEST_P(GpuPi0Plan, GivesTheSameBitsEveryTime) {
  Session run = session(policy.subject({}), default_recipe(0));
  Tensor first = actions_of(run, policy.inputs());
  for (int i = wanted_replays(); i > 0; --i) ASSERT_TRUE(run.run());
  auto again = run.outputs();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(std::memcmp(first.data(), again->front().second.data(), first.bytes()), 0);
}

INSTANTIATE_TEST_SUITE_P(Tiny, GpuPi0Plan, ::testing::Values("pi0_tiny", "pi0_tiny_masked", "pi05_tiny"),
                         [](const auto& directory) { return std::string(directory.param); });

}  // namespace
}  // namespace rung

// A plan that reads what none of its launches wrote: an emulated device tells of it.
// SPDX-License-Identifier: Apache-2.0
#include "plan/support.hpp"
#include "support/device.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class UnwrittenMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    auto target = open_target("emu:gfx942");
    if (!target) GTEST_SKIP() << target.error().message;
    const Graph graph = graph_of("x: f32[4,64] = input()\ny = exp(x)\nz = reduce(y, kind=sum)\nreturn z=z");
    auto built = build_plan(graph, {.threads = 0}, {.target = *target});
    ASSERT_TRUE(built) << built.error().message;
    plan_ = std::move(built->plan);
    ASSERT_EQ(plan_.steps.size(), 2u);
  }
  Result<Outputs> outputs() {
    auto session = Session::create(std::make_shared<Plan>(plan_), nullptr);
    if (!session) return tl::unexpected(session.error());
    return session->infer({{"x", Tensor({DType::f32, {4, 64}})}});
  }
  Plan plan_;
};

TEST_F(UnwrittenMemory, IsNotReadByAWholePlan) {
  auto got = outputs();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->front().second.as<float>()[0], 64.0f);
}

TEST_F(UnwrittenMemory, IsFoundWhereALaunchIsMissing) {
  plan_.steps.erase(plan_.steps.begin());
  auto got = outputs();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("nobody wrote"));
}

}  // namespace
}  // namespace rung

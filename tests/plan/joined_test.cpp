// Which steps of a plan one launch does: neighbours on Hopper whose layers have equal rows and types, four at most.
// SPDX-License-Identifier: Apache-2.0
#include "plan/joined.hpp"

#include "kernels/gpu/kernel.hpp"
#include "support.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;

// Returns the steps of each launch for products by these weights, one after another.
std::vector<size_t> launches_for(const Machine& machine, const std::vector<std::string>& products, bool joined = true) {
  const Target target{.kind = "cuda", .machine = machine, .kernels = gpu::all_kernels()};
  std::string text =
                  "x: bf16[1,256] = input()\nw: bf16[256,256] = constant()\nv: f8e4m3fn[256,256] = constant()\n"
                  "s: f32[256] = constant()\n",
              before = "x";
  for (size_t i = 0; i < products.size(); ++i) {
    const std::string name = "y" + std::to_string(i);
    const std::string rest = products[i] == "v" ? ", s, slots=scale" : "";
    text += fmt::format("{}: bf16[1,256] = linear({}, {}{}, out=bf16)\n", name, before, products[i], rest);
    before = name;
  }
  const auto built = build_plan(graph_of(text + "return y=" + before), {.joined = joined, .threads = 0},
                                {.target = &target, .contents = false});
  EXPECT_TRUE(built) << built.error().message;
  if (!built) return {};
  for (const Step& step : built->plan.steps) EXPECT_EQ(step.choice.kernel, "linear_stream_sm90") << step.problem;
  return steps_of_launches(built->plan);
}

TEST(JoinedPlan, JoinsUpToFourProducts) {
  EXPECT_THAT(launches_for(testing::hopper(), {"w", "w", "w", "w", "w", "w"}), ElementsAre(4, 2));
  EXPECT_THAT(launches_for(testing::hopper(), {"w", "w"}), ElementsAre(2));
  EXPECT_THAT(launches_for(testing::hopper(), {"w"}), ElementsAre(1));
}

TEST(JoinedPlan, JoinsNothingUnasked) {
  EXPECT_THAT(launches_for(testing::hopper(), {"w", "w", "w"}, false), ElementsAre(1, 1, 1));
}

TEST(JoinedPlan, KeepsOtherTypesApart) {
  EXPECT_THAT(launches_for(testing::hopper(), {"w", "w", "v", "v", "w"}), ElementsAre(2, 2, 1));
}

TEST(JoinedPlan, NeedsBlocksThatAreAllThere) {
  Machine machine = testing::hopper();
  machine.gpu.cooperative = false;
  EXPECT_THAT(launches_for(machine, {"w", "w"}), ElementsAre(1, 1));
}

}  // namespace
}  // namespace rung

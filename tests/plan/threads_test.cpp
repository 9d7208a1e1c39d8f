// Thread counts that a processor's plan cannot have: refused when it is built and when it is read.
// SPDX-License-Identifier: Apache-2.0
#include "plan/file.hpp"
#include "plan/support.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

constexpr const char* kText = "y: f32[4] = neg(x:f32[4])\nreturn y=y";

TEST(PlanThreads, AreRefusedInBuildsForImpossibleCounts) {
  for (int threads : {-1, 0, 1025}) {
    std::string message = fmt::format("got {} threads, wanted 1 to 1024", threads);
    auto built = build_plan(graph_of(kText), {.threads = threads});
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().message, message);
    auto passed = apply_passes(graph_of(kText), {.threads = threads});
    ASSERT_FALSE(passed);
    EXPECT_EQ(passed.error().message, message);
  }
}

TEST(PlanThreads, AreRefusedInFilesWithoutAny) {
  TemporaryDirectory folder;
  Plan plan = plan_of(kText);
  plan.recipe.threads = 0;
  ASSERT_TRUE(save_plan(plan, folder / "plan.rung"));
  auto loaded = load_plan(folder / "plan.rung", cpu_target());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr("got 0 threads, wanted 1 to 1024"));
}

}  // namespace
}  // namespace rung

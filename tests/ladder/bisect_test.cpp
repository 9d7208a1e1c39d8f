// Bisection with predicates that know the culprit.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/bisect.hpp"

#include "ladder/rungs.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

Recipe everything() {
  Recipe recipe;
  for (const Rung& rung : ladder()) rung.apply(recipe);
  return recipe;
}

bool pass_runs(const Recipe& recipe, const std::string& rung, const std::string& pass) {
  return recipe.rungs.contains(rung) && !recipe.disabled_passes.contains(pass);
}

TEST(Bisect, BlamesTheRungAndThePass) {
  auto culprit = bisect(
      everything(), [](const Recipe& recipe) -> Result<bool> { return !pass_runs(recipe, "fusion", "fuse_residual"); });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(culprit->rung, "fusion");
  EXPECT_EQ(culprit->pass, "fuse_residual");
  EXPECT_EQ(culprit->recipe.rungs, (std::set<std::string, std::less<>>{"fusion"}));
  EXPECT_FALSE(culprit->recipe.capture);
  EXPECT_LT(culprit->builds, 30);
}

TEST(Bisect, BlamesACanonicalPassWhereNoRungIs) {
  auto culprit = bisect(everything(), [](const Recipe& recipe) -> Result<bool> {
    return recipe.rungs.empty() || recipe.disabled_passes.contains("cse");
  });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(culprit->pass, "cse");
  EXPECT_EQ(culprit->recipe.rungs.size(), 1u);
}

TEST(Bisect, BlamesARungWithoutPasses) {
  auto culprit = bisect(everything(), [](const Recipe& recipe) -> Result<bool> { return !recipe.capture; });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(culprit->rung, "capture");
  EXPECT_EQ(culprit->pass, "");
  EXPECT_TRUE(culprit->recipe.rungs.empty());
}

TEST(Bisect, BlamesTheLowerOfTwoConflictingRungs) {
  auto culprit = bisect(everything(), [](const Recipe& recipe) -> Result<bool> {
    return !(recipe.rungs.contains("attention") && recipe.rungs.contains("fusion"));
  });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(culprit->rung, "attention");
  EXPECT_TRUE(culprit->recipe.rungs.contains("fusion"));
}

TEST(Bisect, BlamesNoRungWhenTheBaselineIsWrong) {
  auto culprit = bisect(everything(), [](const Recipe&) -> Result<bool> { return false; });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_EQ(culprit->rung, "");
  EXPECT_EQ(culprit->recipe, Recipe{});
}

TEST(Bisect, RefusesWhatIsRight) {
  auto culprit = bisect(everything(), [](const Recipe&) -> Result<bool> { return true; });
  ASSERT_FALSE(culprit);
  EXPECT_THAT(culprit.error().message, HasSubstr("nothing to bisect"));
}

TEST(Bisect, PassesOnABuildThatFails) {
  auto culprit = bisect(everything(), [](const Recipe&) -> Result<bool> { return fail("no memory"); });
  ASSERT_FALSE(culprit);
  EXPECT_EQ(culprit.error().message, "no memory");
}

TEST(Reproducer, IsTheParsableGraphBeforeTheCulprit) {
  Culprit culprit{.rung = "fusion", .pass = "fuse_add_norm", .recipe = {.rungs = {"reduce", "fusion"}}};
  Graph graph = tiny_bert().model.graph;
  auto text = reproducer(graph, culprit);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, ::testing::StartsWith("# wrong after pass 'fuse_add_norm' of rung 'fusion'\n"));
  auto parsed = parse_graph(*text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  Recipe before{.rungs = {"reduce", "fusion"},
                .disabled_passes = {"fuse_add_norm", "fuse_masked_mean", "fuse_pointwise"}};
  EXPECT_EQ(parsed->size(), apply_passes(graph, before)->size());
  EXPECT_GT(parsed->size(), apply_passes(graph, culprit.recipe)->size());
}

TEST(Reproducer, WithoutAPassIsWhatTheRecipeLowers) {
  Culprit culprit{.rung = "capture", .pass = "", .recipe = {.as_written = true, .capture = true}};
  Graph graph = tiny_bert().model.graph;
  auto text = reproducer(graph, culprit);
  ASSERT_TRUE(text) << text.error().message;
  auto parsed = parse_graph(*text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->size(), graph.size());
}

}  // namespace
}  // namespace rung

// The list of rungs: what each turns on, and that taking it away leaves what was there before.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/rungs.hpp"
#include "open/recipe.hpp"

#include <gmock/gmock.h>

#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

TEST(Rungs, TakeAwayAllThatTheyTurnOn) {
  Recipe everything{.disabled_passes = {"fuse_rope"}, .threads = 3};
  for (const Rung& rung : ladder()) {
    Recipe before = everything;
    rung.apply(everything);
    if (rung.how == How::refine) continue;  // it edits choices, which go with the rung gemm
    EXPECT_NE(everything, before) << rung.name;
    Recipe after = everything;
    rung.remove(after);
    EXPECT_EQ(after, before) << rung.name;
  }
  for (const Rung& rung : ladder()) rung.remove(everything);
  EXPECT_EQ(everything, (Recipe{.disabled_passes = {"fuse_rope"}, .threads = 3}));
}

TEST(Rungs, TakeTheirKernelsWithThem) {
  Recipe recipe{.tuned_kernels = true, .choices = {{"softmax", {"softmax_avx2", {}}}}};
  rung_named("gemm")->remove(recipe);
  EXPECT_EQ(recipe, Recipe{});
}

TEST(Rungs, TakeTheirPrecisionWithThem) {
  Recipe recipe{.rungs = {"precision"}, .precision = everywhere(DType::bf16)};
  rung_named("precision")->remove(recipe);
  EXPECT_EQ(recipe, Recipe{});
}

TEST(DefaultRecipe, HasEveryRungButThoseOnRequest) {
  Recipe recipe = default_recipe(2), narrow = default_recipe(2, DType::bf16);
  EXPECT_EQ(recipe.rungs,
            (std::set<std::string, std::less<>>{"reduce", "attention", "projection", "fusion", "regions"}));
  EXPECT_TRUE(recipe.capture);
  EXPECT_TRUE(recipe.tuned_kernels);
  EXPECT_TRUE(recipe.precision.empty());
  EXPECT_EQ(recipe.threads, 2);
  EXPECT_TRUE(narrow.rungs.contains("precision"));
  EXPECT_EQ(narrow.precision, everywhere(DType::bf16));
}

TEST(Rungs, SayWhatTheirSessionsDo) {
  const Target target = testing::fake_target();
  auto built = build_plan(graph_of("x: f32[4] = input()\ny: f32[4] = neg(x)\nreturn y=y"), {.capture = true},
                          {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  ASSERT_TRUE(session) << session.error().message;
  const Rung& capture = *rung_named("capture");
  ASSERT_TRUE(capture.notes);
  EXPECT_THAT(capture.notes(*session), ::testing::Contains(::testing::StartsWith("the whole run is one graph of")));
}

TEST(RungNamed, IsNullForAnotherName) {
  for (const Rung& rung : ladder()) EXPECT_EQ(rung_named(rung.name), &rung);
  EXPECT_EQ(rung_named("speed"), nullptr);
}

}  // namespace
}  // namespace rung

// The list of rungs: what each turns on, and that taking it away leaves what was there before.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/rungs.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(Rungs, TakeAwayAllThatTheyTurnOn) {
  Recipe everything{.disabled_passes = {"fuse_rope"}, .threads = 3};
  for (const Rung& rung : ladder()) {
    Recipe before = everything;
    rung.apply(everything);
    if (rung.name == "tune") continue;  // it edits choices, which go with the rung gemm
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
  Recipe recipe{.rungs = {"precision"}, .precision = DType::bf16};
  rung_named("precision")->remove(recipe);
  EXPECT_EQ(recipe, Recipe{});
}

TEST(DefaultRecipe, HasEveryRungButThoseOnRequest) {
  Recipe recipe = default_recipe(2), narrow = default_recipe(2, DType::bf16);
  EXPECT_EQ(recipe.rungs, (std::set<std::string, std::less<>>{"reduce", "attention", "projection", "fusion"}));
  EXPECT_TRUE(recipe.capture);
  EXPECT_TRUE(recipe.tuned_kernels);
  EXPECT_EQ(recipe.precision, DType::f32);
  EXPECT_EQ(recipe.threads, 2);
  EXPECT_TRUE(narrow.rungs.contains("precision"));
  EXPECT_EQ(narrow.precision, DType::bf16);
}

TEST(RungNamed, IsNullForAnotherName) {
  for (const Rung& rung : ladder()) EXPECT_EQ(rung_named(rung.name), &rung);
  EXPECT_EQ(rung_named("speed"), nullptr);
}

}  // namespace
}  // namespace rung

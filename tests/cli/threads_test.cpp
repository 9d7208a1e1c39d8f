// Thread counts that cannot be had, on the command line and in recipes: one error line each.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "support/address_space_limit.hpp"

namespace rung {
namespace {

TEST(Threads, OfNoneInARecipeAreRefused) {
  Tool tool;
  std::string recipe = tool.folder().write("recipe.json", R"({"version": 1, "threads": 0})");
  expect_error(tool.run({"build", bert_tiny(), "--recipe", recipe, "--out", tool / "plan.rung"}), 1,
               "got 0 threads, wanted 1 to 1024");
  EXPECT_FALSE(std::filesystem::exists(tool / "plan.rung"));
}

TEST(Threads, BeyondWhatATeamHasAreRefused) {
  Tool tool;
  expect_error(tool.run({"run", bert_tiny(), "--threads", "1025"}), 2,
               "--threads: got '1025', wanted a whole number from 0 to 1024");
  std::string recipe = tool.folder().write("recipe.json", R"({"version": 1, "threads": 1025})");
  expect_error(tool.run({"build", bert_tiny(), "--recipe", recipe}), 1, "got 1025, wanted 1 to 1024");
}

TEST(Threads, ThatCannotStartAreOneError) {
  if (!kLimitable) GTEST_SKIP() << "a sanitizer's own memory knows no limit";
  Tool tool;
  const AddressSpaceLimit limit(size_t{1} << 30);
  expect_error(
      tool.run({"run", bert_tiny(), "--shape", kShape, "--inputs", bert_tiny() + "/inputs.npz", "--threads", "1000"}),
      1, "cannot start 1000 threads: ");
}

}  // namespace
}  // namespace rung

// A whole climb of a small model: receipts, promises, interruption.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/climb.hpp"

#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/rungs.hpp"
#include "open/recipe.hpp"
#include "support.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class Climb : public ::testing::Test {
 protected:
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  ClimbOptions options{.budget_s = 5 * kPace,
                       .inputs = {sample_inputs(subject.model, 1), sample_inputs(subject.model, 2)},
                       .database_path = directory / "tuning.json"};

  // Climbs until progress says something that starts with `what`, then interrupts.
  std::string error_when_interrupted_at(const std::string& what) {
    bool reached = false;
    options.progress = [&](const std::string& now, double) { reached = reached || now.starts_with(what); };
    options.interrupted = [&] { return reached; };
    auto outcome = climb(subject, options);
    EXPECT_EQ(outcome ? ErrorKind::failed : outcome.error().kind, ErrorKind::interrupted);
    return outcome ? "no error" : outcome.error().message;
  }
};

TEST_F(Climb, LeavesEveryRungsReceiptAndAVerifiedPlan) {
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const ClimbResult& result = outcome->result;
  for (const Rung& rung : ladder()) {
    bool has_receipt = std::any_of(result.rungs.begin(), result.rungs.end(), [&](const Receipt& receipt) {
      return receipt.name == rung.name || receipt.name == "without " + std::string(rung.name);
    });
    EXPECT_TRUE(has_receipt || rung.opt_in || result.untried > 0) << rung.name;
    EXPECT_FALSE(has_receipt && rung.opt_in) << rung.name;
  }
  for (const Receipt& receipt : result.rungs) {
    EXPECT_NE(receipt.reason, "") << receipt.name;
    EXPECT_GT(receipt.ms, 0) << receipt.name;
    EXPECT_TRUE(!receipt.accepted || receipt.ci95.lo > 1) << receipt.name;
  }
  EXPECT_TRUE(result.verified);
  EXPECT_LT(result.rel_l2, 1e-5);
  EXPECT_GT(result.cosine, 0.99999);
  EXPECT_GT(result.kernels_before, result.kernels_after);
  EXPECT_GT(result.baseline_ms, 0);
  EXPECT_GT(result.baseline_categories_us.at("GEMM"), 0);
  EXPECT_GT(result.final_ms, 0);
  EXPECT_LT(result.total_s, 3 * options.budget_s);
}

TEST_F(Climb, HandsBackARecipeThatRebuildsThePlan) {
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  auto again = build_plan(subject.model.graph, outcome->recipe);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(same_launches(again->plan, *outcome->plan));
}

TEST_F(Climb, LeavesSkippedRungsAlone) {
  options.skip = {"attention", "fusion", "gemm", "tune"};
  options.budget_s = 2 * kPace;
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const Receipt& receipt : outcome->result.rungs) EXPECT_FALSE(options.skip.contains(receipt.name));
  EXPECT_FALSE(outcome->recipe.rungs.contains("fusion"));
  EXPECT_FALSE(outcome->recipe.tuned_kernels);
}

TEST_F(Climb, RefusesRungsThatTheBudgetDoesNotReach) {
  options.budget_s = 1e-3;
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const Receipt& receipt : outcome->result.rungs) {
    if (receipt.name == kDefaultPlan) continue;
    EXPECT_FALSE(receipt.accepted) << receipt.name;
    EXPECT_THAT(receipt.reason, HasSubstr("budget")) << receipt.name;
  }
  EXPECT_THAT(outcome->result.budget_note, HasSubstr("leaves no time to try changes"));
  EXPECT_EQ(outcome->recipe, default_recipe(options.threads)) << "what runs without a climb";
  EXPECT_TRUE(outcome->result.verified);
}

TEST_F(Climb, CountsTheSecondsThatWentBeforeIt) {
  options.spent_s = options.budget_s;
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const Receipt& receipt : outcome->result.rungs) {
    if (receipt.name == kDefaultPlan) continue;
    EXPECT_FALSE(receipt.accepted) << receipt.name;
    EXPECT_THAT(receipt.reason, HasSubstr("budget")) << receipt.name;
  }
  EXPECT_EQ(outcome->result.budget_s, options.budget_s);
  EXPECT_GT(outcome->result.total_s, options.budget_s);
}

TEST_F(Climb, InterruptedBeforeTuningLeavesNoDatabase) {
  EXPECT_THAT(error_when_interrupted_at("baseline"), HasSubstr("interrupted"));
  EXPECT_FALSE(std::filesystem::exists(options.database_path));
}

TEST_F(Climb, NamesABadInput) {
  options.inputs[1]["input_ids"].as<int64_t>()[0] = 64;
  auto outcome = climb(subject, options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("input_ids"));
  EXPECT_THAT(outcome.error().message, HasSubstr("64"));
}

TEST_F(Climb, StopsAtADamagedDatabase) {
  directory.write("tuning.json", "{");
  auto outcome = climb(subject, options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr(options.database_path));
}

}  // namespace
}  // namespace rung

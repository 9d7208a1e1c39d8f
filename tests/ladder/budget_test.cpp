// The climb's clock, and profiles that end when their seconds are spent.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/budget.hpp"

#include <cmath>

#include "ladder/profile.hpp"
#include "ladder/speedup.hpp"
#include "plan/build.hpp"
#include "support.hpp"

namespace rung {
namespace {

TEST(Budget, KeepsItsReserveUntilItIsReleased) {
  Budget budget(100, 15);
  EXPECT_NEAR(budget.left(), 85, 5);
  EXPECT_DOUBLE_EQ(budget.share(0.1), 10);
  EXPECT_NEAR(budget.share(1), 85, 5) << "a share is no more than what is left";
  budget.release();
  EXPECT_NEAR(budget.left(), 100, 5);
}

TEST(Budget, CountsWhatWasSpentBeforeItBegan) {
  Budget budget(100, 15, 30);
  EXPECT_NEAR(budget.spent(), 30, 5);
  EXPECT_NEAR(budget.left(), 55, 5);
  EXPECT_NEAR(budget.share(1), 55, 5);
  EXPECT_DOUBLE_EQ(budget.share(0.1), 10) << "a share is of the whole";
}

TEST(Budget, KeepsTimeForWritingToTheVeryEnd) {
  Budget budget(100, 15);
  budget.keep(20);
  EXPECT_NEAR(budget.left(), 65, 5);
  budget.release();
  EXPECT_NEAR(budget.left(), 80, 5);
}

TEST(Budget, ReservesTheMostThatWasAskedFor) {
  Budget budget(100, 40);
  budget.reserve(10);
  EXPECT_NEAR(budget.left(), 60, 5);
  budget.reserve(70);
  EXPECT_NEAR(budget.left(), 30, 5);
}

TEST(Budget, GivesNoShareOnceItIsSpent) {
  Budget budget(100, 15, 300);
  EXPECT_LT(budget.left(), 0);
  EXPECT_EQ(budget.share(0.5), 0);
  EXPECT_EQ(budget.share(Allowance{0.5, 3}), 0);
}

TEST(Budget, AllowsAShareUpToItsMost) {
  const Budget budget(100);
  EXPECT_DOUBLE_EQ(budget.share(Allowance{0.02, 3}), 2);
  EXPECT_DOUBLE_EQ(budget.share(Allowance{0.2, 3}), 3);
  EXPECT_DOUBLE_EQ((Allowance{0.02, 3}.of(100)), 2);
  EXPECT_DOUBLE_EQ((Allowance{0.2, 3}.of(100)), 3);
}

TEST(RaceRule, IsKeptWithinWhatIsLeft) {
  const RaceRule rule{2, 0.004, 0.3};
  EXPECT_EQ(rule.within(5).seconds, 2) << "no longer than it wants";
  EXPECT_EQ(rule.within(1.5).seconds, 1.5);
  EXPECT_EQ(rule.within(0).seconds, kLeastSeconds);
  EXPECT_EQ(rule.within(-4).seconds, kLeastSeconds);
  EXPECT_EQ(rule.within(1).half_width, 0.004);
  EXPECT_EQ(rule.within(1).patience_s, 0.3);
}

// Nothing but an interval clear of 1 is a claim.
TEST(Speedup, ClaimsWhatARaceShowed) {
  const auto raced = [](double ratio, double lo, double hi) {
    return Speedup{.before_ms = 2, .after_ms = 1, .ratio = ratio, .ci95 = {lo, hi}, .pairs = 9, .unraced = {}};
  };
  EXPECT_EQ(raced(2, 1.5, 2.5).claimed(), 2);
  EXPECT_TRUE(raced(2, 1.5, 2.5).is_faster());
  EXPECT_EQ(raced(0.5, 0.4, 0.6).claimed(), 0.5);
  EXPECT_TRUE(raced(0.5, 0.4, 0.6).is_slower());
  for (const Speedup& unclear : {raced(1.2, 0.9, 1.5), raced(1.2, 1, 1.5), raced(0.9, 0.8, 1)}) {
    EXPECT_EQ(unclear.claimed(), 1);
    EXPECT_FALSE(unclear.is_faster());
    EXPECT_FALSE(unclear.is_slower());
  }
  EXPECT_EQ(Speedup::same_plan(3).claimed(), 1);
  EXPECT_EQ(Speedup::same_plan(3).after_ms, 3);
  const Speedup none = Speedup::none(3, 2, kNoRace);
  EXPECT_TRUE(std::isnan(none.claimed()));
  EXPECT_FALSE(none.is_faster());
  EXPECT_EQ(none.before_ms, 3);
  EXPECT_EQ(none.after_ms, 2);
}

TEST(Speedup, HasTheFiguresOfItsRace) {
  InterleaveResult race;
  race.ratio = {};
  race.ratio.ratio = 1.5, race.ratio.lo = 1.25, race.ratio.hi = 1.75, race.ratio.pairs = 7;
  race.median_a = 0.003, race.median_b = 0.002;
  const Speedup speedup = Speedup::of(race);
  EXPECT_DOUBLE_EQ(speedup.before_ms, 3);
  EXPECT_DOUBLE_EQ(speedup.after_ms, 2);
  EXPECT_EQ(speedup.ratio, 1.5);
  EXPECT_EQ(speedup.ci95.lo, 1.25);
  EXPECT_EQ(speedup.ci95.hi, 1.75);
  EXPECT_EQ(speedup.pairs, 7);
  EXPECT_TRUE(speedup.raced());
}

TEST(Budget, KeepsMoreForWritingLargerPlans) {
  EXPECT_GT(writing_seconds(0), 0) << "the reports";
  EXPECT_NEAR(writing_seconds(6.5e9), 6.5, 1);
}

class ProfiledModel : public ::testing::Test {
 protected:
  Subject subject = tiny_bert();
  Result<Profile> profile(double seconds) {
    auto built = build_plan(subject.model.graph, Recipe{});
    EXPECT_TRUE(built) << built.error().message;
    auto plan = std::make_shared<const Plan>(std::move(built->plan));
    auto session = Session::create(plan, std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(session) << session.error().message;
    return profile_session(*session, *complete_inputs(subject.model, sample_inputs(subject.model, 1)), seconds);
  }
};

TEST_F(ProfiledModel, IsMeasuredOnceWhereNoTimeIsLeft) {
  auto once = profile(0);
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(once->cold.runs, 1);
  EXPECT_GT(once->cold.median_ms, 0);
}

TEST_F(ProfiledModel, HasAllItsTimeInCategories) {
  auto profiled = profile(0.1);
  ASSERT_TRUE(profiled) << profiled.error().message;
  double ops = profiled->host_us, categories = 0;
  for (const OpTime& op : profiled->ops) ops += op.us;
  for (const auto& [name, us] : by_category_us(*profiled)) categories += us;
  EXPECT_GT(ops, 0);
  EXPECT_NEAR(categories, ops, 1e-6 * ops);
}

}  // namespace
}  // namespace rung

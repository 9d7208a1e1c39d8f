// The climb's clock, and profiles that end when their seconds are spent.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/budget.hpp"

#include "ladder/profile.hpp"
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

TEST(Budget, CountsWhatWasSpentBeforeItsClockWasMade) {
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

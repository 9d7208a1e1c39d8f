// Two candidates in turns: the ratio, what a drifting machine does to it, and candidates that cannot be compared.
// SPDX-License-Identifier: Apache-2.0
#include "tune/compare.hpp"

#include <csignal>

#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::HasSubstr;

// A hundredth longer with every call, whichever of the two is called.
template <int Us>
void ever_slower(const cpu::Call& call) {
  static int calls = 0;
  scripted::answer(call, Us * (1 + 0.01 * calls++));
}
void crash(const cpu::Call&) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

class Compare : public ::testing::Test {
 protected:
  Result<Compared> compare(scripted::Run first, scripted::Run second, std::function<bool()> out_of_time = {}) {
    rows.add("softmax", {{"first", first}, {"second", second}});
    target = rows.target();
    const Problem problem{.op = Softmax{}, .inputs = {dense(DType::f32, {2, 8})}, .output = dense(DType::f32, {2, 8})};
    const std::vector<KernelCandidate> both{{target.kernel_named("first"), {}}, {target.kernel_named("second"), {}}};
    return compare_in_worker({&target, problem, both, 0, 0.005, 5, std::move(out_of_time)});
  }
  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
};

TEST_F(Compare, TellsHowManyTimesLongerTheFirstTakes) {
  const auto compared = compare(right<1000>, right<400>);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_NEAR(compared->first_us, 1000, 1e-6);
  EXPECT_NEAR(compared->second_us, 400, 1e-6);
  EXPECT_NEAR(compared->ratio.ratio, 2.5, 1e-9);
  EXPECT_NEAR(compared->ratio.lo, 2.5, 1e-9);
  EXPECT_EQ(compared->ratio.pairs, kComparedPairs);
}

TEST_F(Compare, SeesNoDifferenceInADriftingMachine) {
  const auto compared = compare(ever_slower<1000>, ever_slower<1000>);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_LT(compared->ratio.lo, 1);
  EXPECT_GT(compared->ratio.hi, 1);
  EXPECT_NEAR(compared->ratio.ratio, 1, 0.02);
}

TEST_F(Compare, SaysWhichOfThemIsWrong) {
  const auto compared = compare(right<1000>, scripted::wrong<400>);
  ASSERT_FALSE(compared);
  EXPECT_THAT(compared.error().message, HasSubstr("second: wrong result: relative L2"));
}

TEST_F(Compare, SaysWhichOfThemCrashes) {
  const auto compared = compare(right<1000>, crash);
  ASSERT_FALSE(compared);
  EXPECT_THAT(compared.error().message, HasSubstr("second: crashed: Segmentation fault"));
}

TEST_F(Compare, EndsInTimeWithThePairsItHas) {
  int asked = 0;
  const auto compared = compare(right<1000>, right<400>, [&] { return ++asked > 9; });
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_EQ(compared->ratio.pairs, 4);
  EXPECT_EQ(compared->ratio.lo, 0) << "four pairs are no evidence";
}

TEST_F(Compare, NeedsAPair) {
  const auto compared = compare(right<1000>, right<400>, [] { return true; });
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().message, "no time left");
}

}  // namespace
}  // namespace rung

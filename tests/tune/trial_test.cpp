// The operands that candidates are tried on.
// SPDX-License-Identifier: Apache-2.0
#include "tune/trial.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "ir/sampling.hpp"
#include "support.hpp"
#include "support/scripted_clock.hpp"

namespace rung {
namespace {

TEST(TrialOperands, AreSuchThatEveryResultIsANumber) {
  Problem problem = linear_problem(4, 8, 64);
  std::get<Linear>(problem.op).slots.put(problem.inputs, LinearSlot::squares, dense(DType::f32, {4, 2}));
  const auto least = [&](size_t i) {
    Tensor values = random_operand(problem, i, INT64_MAX);
    return *std::min_element(values.as<float>().begin(), values.as<float>().end());
  };
  EXPECT_LT(least(0), 0.0f);
  EXPECT_LT(least(1), 0.0f);
  EXPECT_GE(least(2), 0.0f);  // squares
}

// Sums x and w; takes a microsecond, and tells which weights it was given.
std::vector<const void*> weights_given;
void sum_of_weights(const cpu::Call& call) {
  scripted::Clock::pass_us(1);
  weights_given.push_back(call.inputs[1]);
  std::fill_n(call.out<float>(), 4, call.in<float>(0)[0] + call.in<float>(1)[0]);
}
const Kernel kSum{"sum", "linear", [](const Problem&, const Machine&) { return accept(); }, sum_of_weights};

class TrialCopies : public ::testing::Test {
 protected:
  // How many copies of its weights a problem with 256 bytes of them is timed over, in 100 us.
  size_t copies(size_t working_set_bytes) {
    Problem problem = linear_problem(1, 4, 16);
    TrialOperands operands(problem);
    EXPECT_EQ(operands.constant_bytes(), 256u);
    Trial trial(operands, {&kSum, {}}, working_set_bytes);
    weights_given.clear();
    EXPECT_NEAR(trial.time(team, 100e-6).us, 1, 1e-9);
    EXPECT_EQ(weights_given.size(), 101u) << "one that is not timed, and 100 us of timed ones";
    return std::set<const void*>(weights_given.begin(), weights_given.end()).size();
  }
  scripted::Clock clock;
  cpu::Team team{1};
};

TEST_F(TrialCopies, StandForTheWeightsOfTheModel) {
  EXPECT_EQ(copies(0), 1u);
  EXPECT_EQ(copies(256), 1u);
  EXPECT_EQ(copies(5 * 256), 5u);
  EXPECT_EQ(copies(1 << 20), 64u) << "and no more, however large the model";
}

TEST_F(TrialCopies, HoldTheSameValues) {
  Problem problem = linear_problem(1, 4, 16);
  TrialOperands operands(problem);
  Trial trial(operands, {&kSum, {}}, 3 * 256);
  weights_given.clear();
  const float first = trial.results(team)[0].as<float>()[0];
  trial.time(team, 0);
  for (const void* weights : weights_given) EXPECT_EQ(std::memcmp(weights, operands.addresses()[1], 256), 0);
  EXPECT_EQ(trial.results(team)[0].as<float>()[0], first);
}

TEST(Trial, HasRoomForAllResultsAndGivesThem) {
  const Problem problem{.op = TopK{.k = 2}, .inputs = {dense(DType::f32, {3, 9})}, .output = dense(DType::f32, {3, 2})};
  TrialOperands operands(problem);
  cpu::Team team(1);
  const auto results = Trial(operands, {cpu_target().kernel_named("top_k_fallback"), {}}, 0).results(team);
  ASSERT_EQ(results.size(), 2u);
  const auto* x = static_cast<const float*>(operands.addresses()[0]);
  for (size_t i = 0; i < 6; ++i) {
    const auto place = static_cast<size_t>(results[1].as<float>()[i]);
    EXPECT_EQ(results[0].as<float>()[i], x[i / 2 * 9 + place]) << i;
  }
}

TEST(Trial, GivesASampleSettingsThatItCanUse) {
  const Problem problem{.op = Sample{},
                        .inputs = {dense(DType::f32, {90}), dense(DType::f32, {8}), dense(DType::i64, {2})},
                        .output = dense(DType::i64, {1})};
  const TrialOperands operands(problem);
  sampling::Settings settings;
  std::memcpy(&settings, operands.addresses()[1], sizeof settings);
  EXPECT_TRUE(sampling::is_valid(settings));
  EXPECT_FALSE(sampling::is_greedy(settings)) << "the trial would tell nothing of a draw";
}

TEST(Trial, PutsTokensInPlacesOfTheirOwn) {
  const Problem problem{
      .op = CacheHeads{},
      .inputs = {dense(DType::bf16, {4, 32}), dense(DType::bf16, {9, 1, 8}), dense(DType::bf16, {9, 1, 8}),
                 dense(DType::i64, {4}), dense(DType::f32, {4, 8}), dense(DType::f32, {4, 8})},
      .output = dense(DType::bf16, {4, 2, 8})};
  EXPECT_THAT(random_operand(problem, CacheHeads::kPlaces, INT64_MAX).as<int64_t>(),
              ::testing::ElementsAre(0, 1, 2, 3));
}

TEST_F(TrialCopies, AreTimedSevenTimesAtLeast) {
  Problem problem = linear_problem(1, 4, 16);
  TrialOperands operands(problem);
  Trial trial(operands, {&kSum, {}}, 0);
  weights_given.clear();
  trial.time(team, 0);
  EXPECT_EQ(weights_given.size(), 1u + 7u);
}

size_t slow_runs = 0;
void takes_a_tenth(const cpu::Call& call) {
  if (call.part != 0) return;
  ++slow_runs;
  scripted::Clock::pass_us(90e3);
}
const Kernel kSlow{"slow", "linear", [](const Problem&, const Machine&) { return accept(); }, takes_a_tenth};

TEST_F(TrialCopies, AreTimedTwiceIfTheyAreSlow) {
  const Problem problem = linear_problem(1, 4, 16);
  const TrialOperands operands(problem);
  Trial trial(operands, {&kSlow, {}}, 0);
  slow_runs = 0;
  EXPECT_NEAR(trial.time(team, 0.01).us, 90e3, 1e-6);
  EXPECT_EQ(slow_runs, 1u + 2u) << "the budget would wait for 0.63 s";
}

}  // namespace
}  // namespace rung

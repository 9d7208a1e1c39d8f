// The tuner: what it keeps, what it leaves alone, what it tunes again.
// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

namespace rung {
namespace {

TEST(Winner, IsTheDefaultUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(winner_of({{{100, {}}, ""}, {{99, {}}, ""}, {{98.5, {}}, ""}}), 0u);
  EXPECT_EQ(winner_of({{{100, {}}, ""}, {{97, {}}, ""}, {{98, {}}, ""}}), 1u);
  EXPECT_EQ(winner_of({{{100, {}}, ""}, {{97, {}}, ""}, {{90, {}}, ""}}), 2u);
}

TEST(Winner, IsNeverACandidateThatFailed) {
  EXPECT_EQ(winner_of({{{100, {}}, ""}, {{0, {}}, "crashed: Aborted"}}), 0u);
  EXPECT_EQ(winner_of({{{0, {}}, "crashed: Aborted"}, {{0, {}}, "hung"}, {{300, {}}, ""}}), 2u);
}

TEST(Tuner, RemembersEveryCandidateWithAVerdict) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TuneTask task = linear_task(4, 64, 64);
  tune({task}, database, with_seconds(30));
  const TunedProblem* tuned = valid_entry(database, task);
  ASSERT_NE(tuned, nullptr);
  ASSERT_GT(tuned->candidates.size(), 1u);
  EXPECT_EQ(tuned->candidates[0].choice.kernel, "linear_onednn");
  int chosen = 0;
  double chosen_us = 0;
  for (const auto& candidate : tuned->candidates) {
    EXPECT_NE(candidate.verdict, "") << candidate.choice.kernel;
    if (candidate.verdict.starts_with("chosen")) ++chosen, chosen_us = candidate.us;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_LE(chosen_us, tuned->candidates[0].us) << "slower than the default";
}

TEST(Tuner, LeavesKnownProblemsAlone) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TuneTask task = linear_task(4, 64, 64);
  database.put(task.key, {{"linear_openblas", {}}, {}});
  tune({task}, database, with_seconds(30));
  EXPECT_EQ(database.find(task.key)->choice.kernel, "linear_openblas");
  EXPECT_TRUE(database.find(task.key)->candidates.empty());
}

class StaleEntry : public ::testing::TestWithParam<TunedProblem> {};

TEST_P(StaleEntry, IsTunedAgain) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TuneTask task = linear_task(4, 64, 64);
  database.put(task.key, GetParam());
  tune({task}, database, with_seconds(30));
  const TunedProblem* tuned = valid_entry(database, task);
  ASSERT_NE(tuned, nullptr);
  EXPECT_GT(tuned->candidates.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, StaleEntry,
                         ::testing::Values(TunedProblem{{"linear_that_is_gone", {}}, {}},
                                           TunedProblem{{"softmax_fallback", {}}, {}},
                                           TunedProblem{{"linear_avx2", {{"columns", -3}}}, {}},
                                           TunedProblem{{"linear_onednn", {}},
                                                        {{"linear_onednn", {}, 3, "chosen: the default"},
                                                         {"linear_openblas", {}, 0, "no time left"}}},
                                           TunedProblem{{"linear_onednn", {}},  // by a version with fewer kernels
                                                        {{"linear_onednn", {}, 3, "chosen: the default"}}}));

TEST(Tuner, LeavesWhatItTunedAlone) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TuneTask task = linear_task(4, 64, 64);
  tune({task}, database, with_seconds(30));
  const auto times = [&] {
    std::vector<double> us;
    for (const auto& candidate : database.find(task.key)->candidates) us.push_back(candidate.us);
    return us;
  };
  const std::vector<double> before = times();
  tune({task}, database, with_seconds(30));
  EXPECT_EQ(times(), before);
}

TEST(Tuner, LeavesProblemsBeyondTheBudgetUntuned) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  std::vector<TuneTask> tasks{linear_task(4, 64, 64), linear_task(8, 64, 64)};
  tune(tasks, database, with_seconds(0));
  for (const auto& task : tasks) EXPECT_EQ(database.find(task.key), nullptr);
}

TEST(Tuner, StartsWithTheProblemWithMostToGain) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  std::vector<TuneTask> tasks{linear_task(4, 64, 64), linear_task(8, 64, 64)};
  tasks[1].headroom = 5;
  int asked = 0;
  TuneOptions options = with_seconds(30);
  options.interrupted = [&] { return database.find(tasks[1].key) != nullptr || ++asked > 1000; };
  tune(tasks, database, options);
  EXPECT_NE(database.find(tasks[1].key), nullptr);
  EXPECT_EQ(database.find(tasks[0].key), nullptr);
}

}  // namespace
}  // namespace rung

// What the tuner makes of kernels whose times are scripted: choices, verdicts, and what it leaves for another time.
// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {
namespace {

using scripted::NamedRun;
using scripted::right;
using ::testing::StartsWith;

class ScriptedTuner : public ::testing::Test {
 protected:
  void set_kernels(std::initializer_list<scripted::NamedRun> softmax) {
    rows.add("softmax", softmax);
    target = rows.target();
    Problem problem{.op = Softmax{}, .inputs = {dense(DType::f32, {2, 8})}, .output = dense(DType::f32, {2, 8})};
    task = {.key = problem_key(problem), .problem = problem, .target = &target};
  }
  TunedProblem tuned(const TuneOptions& options = with_seconds(30)) {
    tune({task}, database, options);
    const TunedProblem* entry = database.find(task.key);
    return entry ? *entry : TunedProblem{};
  }
  // Seconds are left for that many questions.
  static TuneOptions for_questions(int count) {
    TuneOptions options = with_seconds(0);
    options.seconds_left = [left = count]() mutable { return left-- > 0 ? 1.0 : 0.0; };
    return options;
  }

  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  TuneTask task;
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
};

TEST_F(ScriptedTuner, ChoosesTheFastestAndTellsEveryTime) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}, {"other", right<600>}});
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice.kernel, "fast");
  ASSERT_EQ(entry.candidates.size(), 3u);
  EXPECT_NEAR(entry.candidates[0].us, 1000, 1e-6);
  EXPECT_EQ(entry.candidates[0].verdict, "2.50 x the chosen one's time");
  EXPECT_NEAR(entry.candidates[1].us, 400, 1e-6);
  EXPECT_EQ(entry.candidates[1].verdict, "chosen");
  EXPECT_EQ(entry.candidates[2].verdict, "1.50 x the chosen one's time");
}

TEST_F(ScriptedTuner, KeepsTheDefaultWithinTwoPercent) {
  set_kernels({{"plain", right<1000>}, {"little_faster", right<985>}});
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice.kernel, "plain");
  EXPECT_EQ(entry.candidates[0].verdict, "chosen: the default");
}

TEST_F(ScriptedTuner, NeverChoosesAWrongResult) {
  set_kernels({{"plain", right<1000>}, {"wrong", scripted::wrong<1>}, {"fast", right<400>}});
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice.kernel, "fast");
  EXPECT_THAT(entry.candidates[1].verdict, StartsWith("wrong result: relative L2"));
}

TEST_F(ScriptedTuner, RemembersNothingWithoutTheDefaultsTime) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}});
  EXPECT_EQ(tuned(for_questions(2)).choice.kernel, "");
  EXPECT_EQ(database.find(task.key), nullptr);
}

TEST_F(ScriptedTuner, TriesAgainWhatTimeDidNotReach) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}});
  TunedProblem entry = tuned(for_questions(3));
  EXPECT_EQ(entry.choice.kernel, "plain");
  ASSERT_EQ(entry.candidates.size(), 2u);
  EXPECT_EQ(entry.candidates[1].verdict, "no time left");
  EXPECT_EQ(tuned().choice.kernel, "fast");
}

void run_tile(const cpu::Call& call) {
  constexpr int kUs[] = {0, 300, 100, 200};
  scripted::answer(call, kUs[call.problem.param("tile", 1)]);
}
std::vector<Tunable> tiles(const Problem&, const Machine&) { return {{"tile", {1, 2, 3}}}; }
Verdict no_more(const Problem&, const Machine&) { return reject("only on Sundays"); }

class TunedParameters : public ScriptedTuner {
 protected:
  TunedParameters() {
    set_kernels({});
    tiled.run = run_tile, tiled.tunables = tiles, tiled.name = "tiled";
    tiled.role = refusing.role = Role::fast;
    refusing.supports = no_more, refusing.name = "refusing";
    target.kernels = table;
  }
  Kernel tiled = scripted::reference_row("softmax"), refusing = tiled;
  const Kernel* table[3] = {&refusing, &tiled, &scripted::reference_row("softmax")};
};

TEST_F(TunedParameters, AreTriedOnceEachAndChosenByTime) {
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice, (KernelChoice{"tiled", {{"tile", 2}}}));
  std::vector<Params> tried;
  for (const Candidate& candidate : entry.candidates)
    if (candidate.choice.kernel == "tiled") tried.push_back(candidate.choice.params);
  EXPECT_THAT(tried, ::testing::ElementsAre(Params{}, Params{{"tile", 2}}, Params{{"tile", 3}}));
}

TEST_F(TunedParameters, AreTriedWhereAnEarlierVersionLackedThem) {
  database.put(task.key,
               {{"tiled", {}}, {{"tiled", {}, 300, "chosen: the default"}, {"tiled", {{"tile", 2}}, 900, ""}}});
  EXPECT_EQ(tuned().choice, (KernelChoice{"tiled", {{"tile", 2}}}));
}

TEST_F(TunedParameters, SayWhyARowCannotRun) {
  const std::vector<Candidate> candidates = tuned().candidates;
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.back().choice.kernel, "refusing");
  EXPECT_EQ(candidates.back().verdict, "cannot run it: only on Sundays");
}

TEST_F(TunedParameters, AreRetunedWhereTheChosenRowRefuses) {
  database.put(task.key, {{"refusing", {}}, {}});
  EXPECT_EQ(valid_entry(database, task), nullptr);
  EXPECT_EQ(tuned().choice.kernel, "tiled");
}

}  // namespace
}  // namespace rung

// What a climb keeps of a change that loses as a whole: single kernel choices, and single passes of a rung.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/split.hpp"

#include <unistd.h>

#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

bool is_columns(const cpu::Call& call) { return call.problem.as<Softmax>().axis == 0; }

// Tuning runs kernels in processes of its own: alone they take other times than in the model.
pid_t climb_process = 0;
bool is_in_model() { return getpid() == climb_process; }

template <int Rows, int Columns>
void by_axis(const cpu::Call& call) {
  scripted::answer(call, is_columns(call) ? Columns : Rows);
}
// 400 us alone.
template <int Rows, int Columns>
void other_in_model(const cpu::Call& call) {
  scripted::answer(call, !is_in_model() ? 400 : is_columns(call) ? Columns : Rows);
}

// Two problems of softmax, 1000 us each in its first row.
class SplitChoices : public ScriptedClimb {
 protected:
  SplitChoices() {
    climb_process = getpid();
    Graph graph = graph_of("x: f32[2,8] = input()\ns = softmax(x)\ny = softmax(s, axis=0)\nreturn y=y");
    subject.model.graph = subject.reference = graph;
  }
  void set_softmax(std::initializer_list<scripted::NamedRun> kernels) {
    set_kernels(kernels);
    auto built = build_plan(subject.model.graph, {}, {.target = &target});
    ASSERT_TRUE(built) << built.error().message;
    rows_problem = built->plan.steps.at(0).problem, columns_problem = built->plan.steps.at(1).problem;
  }
  TuningDatabase database() {
    auto opened = TuningDatabase::open(options.database_path, target.fingerprint);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  // Sure entries with this winner for both problems.
  void know_winner(const std::string& kernel) {
    TuningDatabase known = database();
    for (const std::string& problem : {rows_problem, columns_problem})
      known.put(
          problem,
          {{kernel, {}}, {{"softmax_plain", {}, 1000, ""}, {"softmax_fast", {}, 400, ""}}, Margin{2.5, {2.5, 2.5}, 0}});
    ASSERT_TRUE(known.save());
  }
  static std::vector<std::string> kernels_in(const ClimbOutcome& outcome) {
    std::vector<std::string> kernels;
    for (const Step& step : outcome.plan->steps) kernels.push_back(step.choice.kernel);
    return kernels;
  }
  std::string rows_problem, columns_problem;
};

TEST_F(SplitChoices, KeepTheWinningChoiceOfALosingSet) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<300, 3000>}});
  ClimbOutcome outcome = climbed();
  Receipt gemm = receipt_of(outcome, "gemm");
  EXPECT_TRUE(gemm.accepted) << gemm.reason;
  EXPECT_NEAR(gemm.before_ms, 2.0, 1e-9);
  EXPECT_NEAR(gemm.ms, 1.3, 1e-9);
  EXPECT_NEAR(gemm.ratio, 2.0 / 1.3, 1e-9);
  EXPECT_THAT(gemm.notes, Contains("taken apart: 1 of 2 parts kept"));
  EXPECT_THAT(gemm.notes, Contains("slower on the whole model: " + columns_problem + ": softmax_fast"));
  EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_fast", "softmax_plain"));
  EXPECT_NEAR(outcome.result.final_ms, 1.3, 1e-9);
}

TEST_F(SplitChoices, KeepTheWinningChoiceOfASlowModel) {
  set_softmax({{"softmax_plain", right<200'000>}, {"softmax_fast", [](const cpu::Call& call) {
                                                     const int in_model = is_columns(call) ? 600'000 : 140'000;
                                                     scripted::answer(call, is_in_model() ? in_model : 80'000);
                                                   }}});
  options.budget_s = 300;
  const ClimbOutcome outcome = climbed();
  EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_fast", "softmax_plain"));
  EXPECT_THAT(receipt_of(outcome, "gemm").notes, Contains("taken apart: 1 of 2 parts kept"));
  EXPECT_GE(outcome.result.against_baseline.pairs, 6) << "the headline has an interval";
}

TEST_F(SplitChoices, HandBackARecipeThatRebuildsThePlan) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<300, 3000>}});
  ClimbOutcome outcome = climbed();
  auto again = build_plan(subject.model.graph, outcome.recipe, {.target = &target});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(same_launches(again->plan, *outcome.plan));
}

TEST_F(SplitChoices, MarkTheEntryThatLostForLaterClimbs) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<300, 3000>}});
  climbed();
  TuningDatabase known = database();
  ASSERT_NE(known.find(columns_problem), nullptr);
  EXPECT_TRUE(known.find(columns_problem)->lost);
  ASSERT_NE(known.find(rows_problem), nullptr);
  EXPECT_FALSE(known.find(rows_problem)->lost);
}

TEST_F(SplitChoices, LeaveEverythingAsItWasWhereNoneWins) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<1500, 3000>}});
  ClimbOutcome outcome = climbed();
  Receipt gemm = receipt_of(outcome, "gemm");
  EXPECT_FALSE(gemm.accepted);
  EXPECT_THAT(gemm.reason, StartsWith("slower: 0.44 x"));
  EXPECT_THAT(gemm.notes, Contains("taken apart: 0 of 2 parts kept"));
  EXPECT_NEAR(gemm.ms, 2.0, 1e-9);
  EXPECT_THAT(kernels_in(outcome), ::testing::Each("softmax_plain"));
  EXPECT_TRUE(outcome.recipe.choices.empty());
}

TEST_F(SplitChoices, LeaveOutOneThatIsWrong) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", [](const cpu::Call& call) {
                                                  scripted::answer(call, 400);
                                                  if (is_in_model() && is_columns(call)) scripted::spoil(call);
                                                }}});
  ClimbOutcome outcome = climbed();
  EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_fast", "softmax_plain"));
  EXPECT_TRUE(outcome.result.verified);
  EXPECT_LT(outcome.result.rel_l2, 1e-6);
}

TEST_F(SplitChoices, AreMeasuredFirstWhereKnownFromEarlierClimbs) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", by_axis<300, 3000>}});
  know_winner("softmax_fast");
  ClimbOutcome outcome = climbed();
  Receipt gemm = receipt_of(outcome, "gemm");
  EXPECT_TRUE(gemm.accepted) << gemm.reason;
  EXPECT_THAT(gemm.notes, Not(Contains(HasSubstr("taken apart"))));
  EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_fast", "softmax_plain"));
  EXPECT_EQ(database().find(columns_problem)->choice.kernel, "softmax_plain");
  EXPECT_FALSE(database().find(columns_problem)->lost);
}

// The default's time as an earlier climb measured it: no measurement of this one gives it.
constexpr double kEarlierUs = 123;

TEST_F(SplitChoices, AreMeasuredAgainOnlyWhereKernelsChange) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", by_axis<3000, 3000>}});
  know_winner("softmax_fast");
  TuningDatabase known = database();
  known.put(columns_problem,
            {{"softmax_plain", {}}, {{"softmax_plain", {}, kEarlierUs, ""}, {"softmax_fast", {}, 400, ""}}, Margin{}});
  ASSERT_TRUE(known.save());
  const ClimbOutcome outcome = climbed();
  EXPECT_THAT(kernels_in(outcome), ::testing::Each("softmax_plain"));
  EXPECT_NEAR(database().find(rows_problem)->candidates.at(0).us, 1000, 1) << "its kernel lost";
  EXPECT_EQ(database().find(columns_problem)->candidates.at(0).us, kEarlierUs) << "its kernel runs already";
}

TEST_F(SplitChoices, StayKnownWithoutTimeToMeasureThemAgain) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<300, 3'000'000>}});
  know_winner("softmax_fast");
  options.budget_s = 8;
  const ClimbOutcome outcome = climbed();
  EXPECT_THAT(receipt_of(outcome, "gemm").reason, StartsWith("slower"));
  for (const std::string& problem : {rows_problem, columns_problem})
    EXPECT_FALSE(database().find(problem)->lost) << "of " << problem << ": nobody knows which of them lost";
}

TEST_F(SplitChoices, StayInUseWhereTimeEndsMeanwhile) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", other_in_model<300, 3000>}});
  know_winner("softmax_fast");
  options.budget_s = 200;
  options.progress = [](const std::string& now, double) {
    if (now.starts_with("tuning 0/")) scripted::Clock::pass_us(80e6);  // more than all tuning may take
  };
  const ClimbOutcome outcome = climbed();
  EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_fast", "softmax_plain"));
  EXPECT_FALSE(database().find(rows_problem)->lost) << "it won";
  EXPECT_TRUE(database().find(columns_problem)->lost);
}

// A neighbour that is there while tuning makes the slow kernel look like the fast one.
bool busy = false;
template <int Us, int Busy>
void beside_neighbour(const cpu::Call& call) {
  const bool disturbed = busy && !is_in_model();
  scripted::answer(call, disturbed ? 0 : Us);
  if (disturbed && call.part == 0) scripted::Clock::pass_us(Busy * 0.5), scripted::Clock::take_us(Busy * 0.5);
}

TEST_F(SplitChoices, FromBusyMachinesDoNotSlowLaterClimbs) {
  set_softmax({{"softmax_slow", beside_neighbour<1000, 2000>},
               {"softmax_slower", beside_neighbour<1600, 500>},
               {"softmax_fast", beside_neighbour<400, 4000>}});
  busy = true;
  climbed();
  busy = false;
  for (const std::string& problem : {rows_problem, columns_problem})
    EXPECT_EQ(database().find(problem)->choice.kernel, "softmax_slower") << "the database is poisoned";
  ClimbOutcome after = climbed();
  EXPECT_THAT(kernels_in(after), ::testing::Each("softmax_fast"));
  options.database_path = directory / "fresh.json";
  EXPECT_EQ(after.result.final_ms, climbed().result.final_ms);
}

TEST_F(SplitChoices, SayThatTheyAreNotSure) {
  set_softmax({{"softmax_plain", beside_neighbour<1000, 2000>}, {"softmax_fast", beside_neighbour<400, 500>}});
  busy = true;
  ClimbOutcome outcome = climbed();
  busy = false;
  EXPECT_TRUE(receipt_of(outcome, "gemm").accepted) << "what a busy machine measured is used by its own climb";
  ASSERT_EQ(outcome.result.choices.size(), 2u);
  EXPECT_EQ(outcome.result.choices[0].reason,
            "fastest when tuned alone; not sure: other programs had 50 % of the processors meanwhile");
}

// One problem of softmax for each axis, of which one alone is faster in the model with what tuning chose.
class SplitOfMany : public ScriptedClimb {
 protected:
  static int64_t winner;
  static void fast(const cpu::Call& call) {
    const bool wins = call.problem.as<Softmax>().axis == winner;
    scripted::answer(call, !is_in_model() ? 400 : wins ? 300 : 3000);
  }
  // Each problem takes 1000 us in its first row.
  ClimbOutcome climbed_with(int64_t problems) {
    climb_process = getpid();
    std::string text = "x0: f32[2,2,2,2,2] = input()\n";
    for (int64_t axis = 0; axis < problems; ++axis)
      text += fmt::format("x{} = softmax(x{}, axis={})\n", axis + 1, axis, axis);
    subject.model.graph = subject.reference = graph_of(text + fmt::format("return y=x{}", problems));
    subject.model.defaults.clear();
    subject.model.defaults["x0"].type = {DType::f32, {2, 2, 2, 2, 2}};
    options.inputs = {random_inputs(subject.model.graph)};
    options.database_path = directory / fmt::format("{} of {}.json", winner, problems);
    rows = {};
    set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", fast}});
    return climbed();
  }
};
int64_t SplitOfMany::winner = 0;

TEST_F(SplitOfMany, KeepsTheOneThatWinsWhereverItStands) {
  for (const int64_t problems : {2, 3, 4, 5})
    for (winner = 0; winner < problems; ++winner) {
      SCOPED_TRACE(fmt::format("{} of {}", winner, problems));
      const ClimbOutcome outcome = climbed_with(problems);
      const Receipt gemm = receipt_of(outcome, "gemm");
      EXPECT_TRUE(gemm.accepted) << gemm.reason;
      EXPECT_THAT(gemm.notes, Contains(fmt::format("taken apart: 1 of {} parts kept", problems)));
      EXPECT_THAT(gemm.notes, ::testing::Contains(StartsWith("slower on the whole model: ")).Times(problems - 1));
      EXPECT_NEAR(gemm.ms, static_cast<double>(problems - 1) + 0.3, 1e-9);
      ASSERT_EQ(outcome.plan->steps.size(), static_cast<size_t>(problems));
      for (int64_t axis = 0; axis < problems; ++axis)
        EXPECT_EQ(outcome.plan->steps[static_cast<size_t>(axis)].choice.kernel,
                  axis == winner ? "softmax_fast" : "softmax_plain");
    }
}

class LostGemm : public SplitChoices {};

TEST_F(LostGemm, LeavesTheRungTuneItsTurn) {
  set_softmax({{"softmax_plain", right<1000>},
               {"softmax_fast", other_in_model<1500, 3000>},
               {"softmax_near", [](const cpu::Call& call) { scripted::answer(call, is_in_model() ? 600 : 410); }}});
  ClimbOutcome outcome = climbed();
  EXPECT_FALSE(receipt_of(outcome, "gemm").accepted);
  Receipt tune = receipt_of(outcome, "tune");
  EXPECT_TRUE(tune.accepted) << tune.reason;
  EXPECT_NEAR(tune.before_ms, 2.0, 1e-9);
  EXPECT_NEAR(tune.ms, 1.2, 1e-9);
  EXPECT_THAT(kernels_in(outcome), ::testing::Each("softmax_near"));
  const auto worth = std::ranges::find(outcome.result.ablation, "tune", &AblationRow::name);
  ASSERT_NE(worth, outcome.result.ablation.end());
  EXPECT_NEAR(worth->ratio, 2.0 / 1.2, 1e-9);
}

TEST_F(LostGemm, IsNotTunedWhereItIsSkipped) {
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}});
  options.skip = {"gemm"};
  EXPECT_EQ(receipt_of(climbed(), "tune").reason, "needs the rung gemm");
}

class ResumedChoices : public SplitChoices {
 protected:
  static bool columns_are_slow;
  static void near(const cpu::Call& call) {
    const int columns = columns_are_slow ? 2000 : 200;
    scripted::answer(call, !is_in_model() ? 410 : is_columns(call) ? columns : 200);
  }
};
bool ResumedChoices::columns_are_slow = false;

TEST_F(ResumedChoices, AreKeptButForThoseThatLoseNow) {
  columns_are_slow = false;
  set_softmax({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}, {"softmax_near", near}});
  EXPECT_THAT(kernels_in(climbed()), ::testing::Each("softmax_near"));
  columns_are_slow = true;
  for (int climb = 0; climb < 2; ++climb) {
    ClimbOutcome outcome = climbed();
    EXPECT_TRUE(receipt_of(outcome, "tune").accepted);
    EXPECT_THAT(kernels_in(outcome), ::testing::ElementsAre("softmax_near", "softmax_fast"));
    EXPECT_NEAR(outcome.result.final_ms, 0.6, 1e-9);
  }
}

void slow_with_residual(const cpu::Call& call) {
  scripted::answer(call, call.problem.as<LayerNorm>().has_residual() ? 5000 : 100);
}

// Three element-wise launches of 300 us each before a norm of 100 us, which a sum in it makes slow.
class SplitFusion : public ScriptedClimb {
 protected:
  SplitFusion() {
    Graph graph = graph_of(
        "x: f32[2,8] = input()\nw: f32[8] = constant()\nr: f32[2,8] = constant()\n"
        "n = neg(exp(x))\ny = layer_norm(add(n, r), w, w)\nreturn y=y");
    subject.model.graph = subject.reference = graph;
    rows.add("binary", {{"binary_plain", right<300>}});
    rows.add("layer_norm", {{"layer_norm_plain", slow_with_residual}});
  }
};

TEST_F(SplitFusion, KeepsThePassesThatWin) {
  set_kernels({{"softmax_plain", right<1>}});
  ClimbOutcome outcome = climbed();
  Receipt fusion = receipt_of(outcome, "fusion");
  EXPECT_TRUE(fusion.accepted) << fusion.reason;
  EXPECT_NEAR(fusion.before_ms, 1.0, 1e-9);
  EXPECT_NEAR(fusion.ms, 0.3, 1e-9);
  EXPECT_THAT(fusion.notes, Contains("taken apart: 1 of 2 parts kept"));
  EXPECT_THAT(fusion.notes, Contains("slower on the whole model: fuse_add_norm"));
  EXPECT_EQ(fusion.kernels, 2);
  EXPECT_TRUE(outcome.recipe.disabled_passes.contains("fuse_add_norm"));
  EXPECT_FALSE(outcome.recipe.disabled_passes.contains("fuse_pointwise"));
  auto again = build_plan(subject.model.graph, outcome.recipe, {.target = &target});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(same_launches(again->plan, *outcome.plan));
}

TEST_F(SplitFusion, LeavesNoTraceWhereNoPassWins) {
  set_kernels({{"softmax_plain", right<1>}}, {{"pointwise_slow", right<2000>}});
  ClimbOutcome outcome = climbed();
  EXPECT_FALSE(receipt_of(outcome, "fusion").accepted);
  EXPECT_FALSE(outcome.recipe.rungs.contains("fusion"));
  EXPECT_TRUE(outcome.recipe.disabled_passes.empty());
  EXPECT_EQ(outcome.plan->steps.size(), 4u);
}

TEST(PartsOfPasses, AreItsRungsPassesThatChangedTheGraph) {
  PassReport report;
  report.rows = {{.name = "a", .rung = "fusion", .changed = true},
                 {.name = "b", .rung = "reduce", .changed = true},
                 {.name = "c", .rung = "fusion", .changed = false},
                 {.name = "d", .rung = "fusion", .changed = true}};
  std::vector<std::string> names;
  for (const Part& part : parts_of_passes(report, "fusion")) names.push_back(part.text());
  EXPECT_THAT(names, ::testing::ElementsAre("a", "d"));
}

TEST(WithoutPasses, TurnsTheRungOnAndItsPassesOff) {
  const Rung& fusion = *rung_named("fusion");
  Recipe recipe = without_passes({}, fusion);
  EXPECT_TRUE(recipe.rungs.contains("fusion"));
  EXPECT_TRUE(recipe.disabled_passes.contains("fuse_residual"));
  EXPECT_FALSE(recipe.disabled_passes.contains("simplify"));
  Part{.problem = {}, .choice = {}, .pass = "fuse_residual"}.add_to(recipe);
  EXPECT_FALSE(recipe.disabled_passes.contains("fuse_residual"));
}

}  // namespace
}  // namespace rung

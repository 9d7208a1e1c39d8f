// What a climb promises over opening the model: it never ends below that, and claims what a race showed.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "open/recipe.hpp"
#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class NoClimb : public ScriptedClimb {
 protected:
  Recipe default_plan() const { return default_recipe(kThreads); }
};

TEST_F(NoClimb, IsAClimbsStartIfItIsFaster) {
  set_kernels({{"softmax_plain", right<1000>}});
  ClimbOutcome outcome = climbed();
  EXPECT_EQ(outcome.result.rungs.at(1).name, "default plan");
  EXPECT_EQ(outcome.recipe, default_plan());
  EXPECT_EQ(outcome.result.against_no_climb.ratio, 1);
  EXPECT_EQ(outcome.result.against_no_climb.unraced, kSamePlan);
  EXPECT_NEAR(outcome.result.against_baseline.ratio, 1.6 / 1.2, 1e-9);
}

// One launch for the pointwise ops is slower than two: the default plan loses to the baseline.
TEST_F(NoClimb, IsNoStartForAClimbIfSlower) {
  set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}}, {{"pointwise_slow", right<5000>}});
  ClimbOutcome outcome = climbed();
  EXPECT_EQ(receipt_of(outcome, "default plan").reason, "slower: 0.27 x");
  EXPECT_NEAR(outcome.result.final_ms, 1.0, 1e-9);
  EXPECT_NEAR(outcome.result.against_no_climb.ratio, 6.0 / 1.0, 1e-9);
}

TEST_F(NoClimb, IsNoChoiceWhereItIsWrong) {
  set_kernels({{"softmax_plain", right<1000>}}, {{"pointwise_wrong", scripted::wrong<1>}});
  ClimbOutcome outcome = climbed();
  EXPECT_THAT(receipt_of(outcome, "default plan").reason, StartsWith("wrong answer"));
  EXPECT_NEAR(outcome.result.final_ms, 1.6, 1e-9);
  EXPECT_THAT(outcome.result.against_no_climb.unraced, HasSubstr("wrong answer"));
  EXPECT_EQ(outcome.result.against_baseline.unraced, kSamePlan);
  EXPECT_EQ(outcome.result.against_baseline.ratio, 1);
}

TEST_F(NoClimb, RunsWhereTheBudgetReachesNothingElse) {
  set_kernels({{"softmax_plain", right<1'300'000>}, {"softmax_fast", right<1000>}});
  options.budget_s = 1;
  ClimbOutcome outcome = climbed();
  EXPECT_EQ(outcome.recipe, default_plan());
  EXPECT_THAT(outcome.result.budget_note, HasSubstr("leaves no time to try changes"));
  EXPECT_GT(outcome.result.total_s - outcome.result.trials_s, options.budget_s) << "the least takes longer";
}

TEST_F(NoClimb, IsKeptDespiteARungWithoutGain) {
  set_kernels({{"softmax_plain", right<1000>}}, {{"pointwise_same", right<598>}});
  ClimbOutcome outcome = climbed();
  EXPECT_FALSE(receipt_of(outcome, "without fusion").accepted);
  EXPECT_EQ(outcome.recipe, default_plan());
}

// A clear factor is decided by one pair where a run is slow.
TEST_F(NoClimb, DecidesAFactorOfThirteenInOnePair) {
  set_kernels({{"softmax_plain", right<38>}}, {{"pointwise_plain", right<11>}});
  options.budget_s = 0.5;
  ClimbOutcome outcome = climbed();
  const Receipt start = receipt_of(outcome, "default plan");
  EXPECT_NEAR(start.ratio, 638.0 / 49, 1e-6);
  EXPECT_EQ(start.pairs, 1);
  EXPECT_TRUE(start.accepted);
  EXPECT_GT(start.ci95.lo, 1);
}

// Times that rise while a climb goes on, as beside a program that is started meanwhile.
double load = 1;
template <int Us>
void loaded(const cpu::Call& call) {
  load *= 1.0002;
  scripted::answer(call, Us * load);
}

TEST_F(NoClimb, KeptRungsNeverRiseThoughTheMachineSlows) {
  load = 1;
  rows.add("unary", {{"unary_plain", loaded<300>}});
  set_kernels({{"softmax_plain", loaded<1000>}, {"softmax_fast", loaded<900>}}, {{"pointwise_plain", loaded<200>}});
  know_softmax({{"softmax_fast", 900}, {"softmax_plain", 1000}});
  options.budget_s = 5;
  ClimbOutcome outcome = climbed();
  EXPECT_GT(load, 1.2);
  double before = outcome.result.baseline_ms;
  for (const Receipt& receipt : outcome.result.rungs) {
    EXPECT_NEAR(receipt.before_ms, before, 1e-9 * before) << receipt.name;
    if (receipt.accepted) before = receipt.ms;
    EXPECT_LE(receipt.ms, receipt.before_ms) << receipt.name;
  }
  EXPECT_LT(before, outcome.result.baseline_ms);
}

// Fast until a climb is over all rungs, then slow: every change won its race, and the whole loses the last one.
bool turns_slow = false;
void slow_at_the_end(const cpu::Call& call) { scripted::answer(call, turns_slow ? 3000 : 400); }

TEST_F(NoClimb, IsRestoredWhereAClimbsChangesLoseTogether) {
  turns_slow = false;
  set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", slow_at_the_end}});
  options.progress = [](const std::string& now, double) { turns_slow = turns_slow || now == "against no climb"; };
  ClimbOutcome outcome = climbed();
  EXPECT_TRUE(turns_slow);
  EXPECT_EQ(outcome.recipe, default_plan());
  EXPECT_EQ(softmax_of(outcome), "softmax_plain");
  const Receipt gemm = receipt_of(outcome, "gemm");
  EXPECT_FALSE(gemm.accepted);
  EXPECT_THAT(gemm.reason, HasSubstr("given up"));
  EXPECT_TRUE(receipt_of(outcome, "default plan").accepted);
  EXPECT_EQ(outcome.result.against_no_climb.unraced, kSamePlan);
}

// The last race has enough pairs for an interval.
TEST_F(NoClimb, KeepsGainsThoughTheBudgetIsSpent) {
  set_kernels({{"softmax_plain", right<40'000>}, {"softmax_fast", right<30'000>}});
  options.budget_s = 60;
  options.progress = [](const std::string& now, double) {
    if (now == "against no climb") scripted::Clock::pass_us(1e9);
  };
  const ClimbOutcome outcome = climbed();
  EXPECT_GT(outcome.result.total_s, options.budget_s);
  EXPECT_EQ(softmax_of(outcome), "softmax_fast");
  EXPECT_TRUE(outcome.result.against_no_climb.is_faster());
  EXPECT_GE(outcome.result.against_no_climb.pairs, 6);
}

// Other programs disturb the last race's first runs.
int disturbed_runs = 0;
void disturbed(const cpu::Call& call) {
  const bool is_slow = disturbed_runs > 0 && --disturbed_runs % 3 == 0;
  scripted::answer(call, is_slow ? 44'000 : 36'000);
}

TEST_F(NoClimb, KeepsGainsThoughTheLastRaceIsDisturbed) {
  disturbed_runs = 0;
  set_kernels({{"softmax_plain", right<40'000>}, {"softmax_fast", disturbed}});
  options.budget_s = 60;
  options.progress = [](const std::string& now, double) {
    if (now == "against no climb") disturbed_runs = 30;
  };
  const ClimbOutcome outcome = climbed();
  EXPECT_EQ(disturbed_runs, 0);
  EXPECT_EQ(softmax_of(outcome), "softmax_fast");
  EXPECT_TRUE(outcome.result.against_no_climb.is_faster());
}

TEST(NoClimbInBf16, HoldsThePrecisionFromTheBaselineOn) {
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  ClimbOptions options{.budget_s = 2,
                       .dtype = DType::bf16,
                       .inputs = {sample_inputs(subject.model, 1)},
                       .database_path = directory / "tuning.json"};
  options.skip = {"gemm", "tune"};
  std::vector<std::string> stages;
  options.progress = [&](const std::string& now, double) { stages.push_back(now); };
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(stages, ::testing::Not(::testing::Contains("precision")));
  EXPECT_EQ(outcome->result.rungs.at(0).name, "canonical");
  EXPECT_GT(outcome->result.rungs.at(0).rel_l2, 1e-5) << "in bf16";
  EXPECT_EQ(outcome->result.rungs.at(1).name, "default plan");
  EXPECT_GT(outcome->result.rungs.at(1).rel_l2, 1e-5) << "in bf16";
  EXPECT_TRUE(outcome->result.verified);
  EXPECT_TRUE(outcome->result.cheaper.dtype.empty());
}

// A processor that multiplies bf16, with rows that run on any machine.
class NoClimbInF32 : public ::testing::Test {
 protected:
  NoClimbInF32() {
    std::set<std::string_view> families;
    for (const Kernel* kernel : cpu_target().kernels) families.insert(kernel->op);
    for (std::string_view family : families) rows.add(family, {{"plain", right<0>}});
    target = rows.target();
    target.machine.avx512_bf16 = true;
  }
  scripted::Rows rows;
  Target target = cpu_target();
  TemporaryDirectory directory;
};

TEST_F(NoClimbInF32, OffersNoBf16ForProductsOfIntegers) {
  Subject subject;
  const auto offered = [&](const std::string& rounded) {
    subject.model.graph = subject.reference = graph_of(
        "x: f32[4,64] = input()\nw: f32[64,64] = constant()\nmost: f32[] = constant(values=[100])\na = "
        "mul(abs(x), most)\nb = " +
        rounded + "\ny = linear(b, w)\nreturn y=y");
    subject.model.defaults["x"].type = {DType::f32, {4, 64}};
    const ClimbOptions options{
        .target = &target, .budget_s = 2, .skip = {"gemm", "tune"}, .inputs = {random_inputs(subject.model.graph)}};
    const auto outcome = climb(subject, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? outcome->result.cheaper.dtype : "no climb";
  };
  EXPECT_EQ(offered("cast(cast(a, to=u8), to=f32)"), "");
  EXPECT_EQ(offered("tanh(a)"), "bf16") << "bytes are what makes the difference";
}

TEST_F(NoClimbInF32, SaysWhatBf16WouldGainWhereSupported) {
  Subject subject = tiny_bert();
  ClimbOptions options{.target = &target,
                       .budget_s = 3,
                       .inputs = {sample_inputs(subject.model, 1)},
                       .database_path = directory / "tuning.json",
                       .command = [](DType dtype) { return fmt::format("climb in {}", dtype); }};
  options.skip = {"gemm", "tune"};
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const CheaperPrecision& cheaper = outcome->result.cheaper;
  EXPECT_EQ(cheaper.dtype, "bf16");
  EXPECT_EQ(cheaper.command, "climb in bf16");
  EXPECT_TRUE(cheaper.speedup.raced()) << cheaper.speedup.unraced;
  EXPECT_GT(cheaper.rel_l2, 1e-5);
  EXPECT_LT(cheaper.rel_l2, 0.1);
  EXPECT_GT(cheaper.cosine, 0.99);
  options.budget_s = 1e-3;
  outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->result.cheaper.dtype, "bf16");
  EXPECT_EQ(outcome->result.cheaper.speedup.unraced, kNoRace);
}

// A kernel whose team is slower than one thread, as beside a busy process.
void slow_team(const cpu::Call& call) { scripted::answer(call, call.problem.threads > 1 ? 3000 : 300); }

TEST_F(NoClimb, ThreadsAreCandidatesWhereNoneAreAskedFor) {
  rows.add("unary", {{"unary_plain", slow_team}});
  set_kernels({{"softmax_plain", slow_team}}, {{"pointwise_plain", slow_team}});
  options.threads = 2;
  know_peaks(2, {.fma_f32_gflops = 1, .gemm_f32_gflops = 1, .gemm_bf16_gflops = 2, .read_gbps = 1, .handoff_us = 1});
  EXPECT_EQ(climbed().recipe.threads, 2) << "those that were asked for";
  options.may_change_threads = true;
  ClimbOutcome outcome = climbed();
  EXPECT_TRUE(receipt_of(outcome, "1 thread").accepted);
  EXPECT_EQ(outcome.recipe.threads, 1);
  EXPECT_EQ(outcome.result.threads, 1);
  EXPECT_NEAR(outcome.result.against_no_climb.ratio, 10, 1e-6);
}

}  // namespace
}  // namespace rung

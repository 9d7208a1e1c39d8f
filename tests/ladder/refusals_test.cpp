// What a climb must never keep: a wrong answer however fast, and a gain that is not clear.
// SPDX-License-Identifier: Apache-2.0
#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::StartsWith;

class Refusals : public ScriptedClimb {
 protected:
  // The tuner once found this kernel right, and the fastest.
  ClimbOutcome climbed_with_fast(scripted::Run fast) {
    set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", fast}});
    know_softmax({{"softmax_fast", 400}, {"softmax_plain", 1000}});
    return climbed();
  }
  static void expect_refused_as_wrong(const ClimbOutcome& outcome) {
    for (const Receipt& receipt : outcome.result.rungs) {
      if (receipt.name.find("gemm") == std::string::npos) continue;
      EXPECT_FALSE(receipt.accepted) << receipt.name;
      EXPECT_THAT(receipt.reason, StartsWith("wrong answer: y: relative L2 error")) << receipt.name;
      EXPECT_GT(receipt.rel_l2, 0.01) << receipt.name;
      EXPECT_GT(receipt.max_abs, 0.5) << receipt.name;
    }
    EXPECT_FALSE(receipt_of(outcome, "gemm").name.empty());
    EXPECT_EQ(softmax_of(outcome), "softmax_plain");
    EXPECT_TRUE(outcome.result.verified);
    EXPECT_LT(outcome.result.rel_l2, 1e-6);
  }
};

TEST_F(Refusals, MeetAWrongAnswerHoweverFast) { expect_refused_as_wrong(climbed_with_fast(scripted::wrong<1>)); }

TEST_F(Refusals, MeetAnswersWrongForOnlyTheFirstInput) {
  expect_refused_as_wrong(climbed_with_fast(scripted::wrong_for<1, 1>));
}

TEST_F(Refusals, MeetAnswersWrongForOnlyTheLastInput) {
  expect_refused_as_wrong(climbed_with_fast(scripted::wrong_for<1, -1>));
}

TEST_F(Refusals, MeetAGainWhoseIntervalHoldsATie) {
  options.budget_s = 10;
  ClimbOutcome outcome = climbed_with_fast(scripted::erratic<970>);
  Receipt gemm = receipt_of(outcome, "gemm");
  EXPECT_GT(gemm.ratio, 1);
  EXPECT_LT(gemm.ci95.lo, 1);
  EXPECT_FALSE(gemm.accepted);
  EXPECT_EQ(gemm.reason, "no clear difference");
  EXPECT_NEAR(gemm.ms, 1.2, 1e-9) << "what stays is what was there";
}

TEST_F(Refusals, MeetABaselineThatIsWrong) {
  set_kernels({{"softmax_plain", scripted::wrong_for<1000, -1>}});
  auto outcome = climb(subject, options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, StartsWith("the baseline's answer is wrong: y: relative L2 error"));
}

// Softmax's second best alone; the model decides.
class TuneRung : public ScriptedClimb {
 protected:
  ClimbOutcome climbed_with_other(scripted::Run other) {
    set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}, {"softmax_other", other}});
    know_softmax({{"softmax_fast", 400}, {"softmax_other", 410}, {"softmax_plain", 1000}});
    return climbed();
  }
};

TEST_F(TuneRung, KeepsKernelsThatAreFasterInTheModel) {
  ClimbOutcome outcome = climbed_with_other(right<200>);
  Receipt tune = receipt_of(outcome, "tune");
  EXPECT_TRUE(tune.accepted);
  EXPECT_NEAR(tune.before_ms, 0.6, 1e-9);
  EXPECT_NEAR(tune.ms, 0.4, 1e-9);
  EXPECT_NEAR(tune.ratio, 1.5, 1e-9);
  EXPECT_EQ(softmax_of(outcome), "softmax_other");
  ASSERT_EQ(outcome.result.choices.size(), 1u);
  EXPECT_EQ(outcome.result.choices[0].chosen, "softmax_other");
  EXPECT_EQ(outcome.result.choices[0].reason, "faster in the whole model");
}

TEST_F(TuneRung, IsCountedInTheWorthOfGemm) {
  std::vector<std::string> worth;
  for (const AblationRow& row : climbed_with_other(right<200>).result.ablation) worth.push_back(row.name);
  EXPECT_THAT(worth, ::testing::Contains("gemm"));
  EXPECT_THAT(worth, ::testing::Not(::testing::Contains("tune")));
}

TEST_F(TuneRung, RefusesKernelsThatAreWrongInTheModel) {
  ClimbOutcome outcome = climbed_with_other(scripted::wrong_for<1, 1>);
  EXPECT_EQ(receipt_of(outcome, "tune").reason, "no alternative is clearly faster in the model");
  EXPECT_EQ(softmax_of(outcome), "softmax_fast");
  EXPECT_LT(outcome.result.rel_l2, 1e-6);
  EXPECT_NEAR(outcome.result.final_ms, 0.6, 1e-9);
}

TEST_F(TuneRung, RefusesAGainWhoseIntervalHoldsATie) {
  ClimbOutcome outcome = climbed_with_other(scripted::erratic<395>);
  Receipt tune = receipt_of(outcome, "tune");
  EXPECT_THAT(tune.notes, ::testing::Contains("1 of 1 alternatives tried on the whole model, 0 kept"));
  EXPECT_EQ(softmax_of(outcome), "softmax_fast");
}

TEST_F(TuneRung, TriesAgainWhatNoRaceSettled) {
  EXPECT_THAT(receipt_of(climbed_with_other(scripted::erratic<395>), "tune").notes,
              ::testing::Contains("1 of 1 alternatives tried on the whole model, 0 kept"));
  EXPECT_THAT(receipt_of(climbed(), "tune").notes,
              ::testing::Contains(StartsWith("1 of 1 alternatives tried on the whole model")));
}

bool other_is_broken = false;
void breaks_later(const cpu::Call& call) {
  scripted::answer(call, 200);
  if (other_is_broken) scripted::spoil(call);
}

TEST_F(TuneRung, DropsAnEarlierClimbsKernelThatIsWrong) {
  other_is_broken = false;
  EXPECT_EQ(softmax_of(climbed_with_other(breaks_later)), "softmax_other");
  EXPECT_EQ(softmax_of(climbed()), "softmax_other") << "the next climb goes on from there";
  other_is_broken = true;
  ClimbOutcome outcome = climbed();
  EXPECT_EQ(softmax_of(outcome), "softmax_fast");
  EXPECT_LT(outcome.result.rel_l2, 1e-6);
}

TEST_F(TuneRung, TriesNothingThatAnEarlierClimbTried) {
  climbed_with_other(right<600>);
  EXPECT_THAT(receipt_of(climbed(), "tune").notes,
              ::testing::Contains("1 alternatives tried on the whole model by earlier climbs, 0 kept"));
  EXPECT_THAT(receipt_of(climbed(), "tune").notes,
              ::testing::Contains("0 of 0 alternatives tried on the whole model, 0 kept"));
}

// Two problems to tune, each in some milliseconds of scripted time.
class Interruption : public ScriptedClimb {
 protected:
  Interruption() {
    Graph graph = graph_of("x: f32[2,8] = input()\ns = softmax(x)\ny = softmax(s, axis=0)\nreturn y=y");
    subject.model.graph = subject.reference = graph;
    set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}});
  }
};

TEST_F(Interruption, KeepsWhatWasTuned) {
  bool half_done = false;
  options.progress = [&](const std::string& now, double) { half_done = half_done || now == "tuning 1/2"; };
  options.interrupted = [&] { return half_done; };
  auto outcome = climb(subject, options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, StartsWith("interrupted"));
  auto built = build_plan(subject.model.graph, {}, {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  auto database = TuningDatabase::open(options.database_path, target.fingerprint);
  ASSERT_TRUE(database) << database.error().message;
  size_t tuned = 0;
  for (const Step& step : built->plan.steps) {
    const TunedProblem* known = database->find(step.problem);
    tuned += known && known->choice.kernel == "softmax_fast";
  }
  EXPECT_EQ(tuned, 1u) << "and nothing of the problem that it was interrupted at";
}

}  // namespace
}  // namespace rung

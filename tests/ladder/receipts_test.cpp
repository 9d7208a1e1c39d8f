// What a climb tells of kernels whose times are scripted: receipts, ablation, first plan against last.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::StartsWith;

// Baseline 1600 us, the default plan 400 us less, by fusion; the rung gemm then finds 600 us less of softmax.
class Receipts : public ScriptedClimb {
 protected:
  Receipts() { set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}}); }
};

void expect_times(const Receipt& receipt, double before_ms, double ms, double ratio) {
  EXPECT_NEAR(receipt.before_ms, before_ms, 1e-9) << receipt.name;
  EXPECT_NEAR(receipt.ms, ms, 1e-9) << receipt.name;
  EXPECT_NEAR(receipt.ratio, ratio, 1e-9) << receipt.name;
  EXPECT_NEAR(receipt.ci95.lo, ratio, 1e-9) << receipt.name;
  EXPECT_NEAR(receipt.ci95.hi, ratio, 1e-9) << receipt.name;
}

TEST_F(Receipts, GiveTheTimeBeforeAndAfterEachRung) {
  ClimbOutcome outcome = climbed();
  Receipt start = receipt_of(outcome, "default plan"), gemm = receipt_of(outcome, "gemm");
  EXPECT_TRUE(start.accepted);
  expect_times(start, 1.6, 1.2, 1.6 / 1.2);
  EXPECT_EQ(start.reason, "1.33 x faster");
  EXPECT_EQ(start.kernels, 2);
  EXPECT_TRUE(gemm.accepted);
  expect_times(gemm, 1.2, 0.6, 2);
  EXPECT_EQ(gemm.reason, "2.00 x faster");
  EXPECT_EQ(gemm.kernels, 2);
  EXPECT_GE(gemm.pairs, 6);
}

TEST_F(Receipts, KeepWhatWasThereOnATie) {
  ClimbOutcome outcome = climbed();
  Receipt capture = receipt_of(outcome, "without capture"), fusion = receipt_of(outcome, "without fusion");
  EXPECT_FALSE(capture.accepted);
  EXPECT_EQ(capture.reason, "no clear difference");
  expect_times(capture, 0.6, 0.6, 1);
  EXPECT_FALSE(fusion.accepted);
  EXPECT_EQ(fusion.reason, "slower: 0.60 x");
  EXPECT_EQ(receipt_of(outcome, "without reduce").reason, "changes nothing here");
  EXPECT_TRUE(outcome.recipe.capture);
}

TEST_F(Receipts, SayWhatEachRungIsFinallyWorth) {
  ClimbOutcome outcome = climbed();
  const std::vector<AblationRow>& worth = outcome.result.ablation;
  ASSERT_EQ(worth.size(), 3u);
  EXPECT_EQ(worth[0].name, "capture");
  EXPECT_NEAR(worth[0].ratio, 1, 1e-9);
  EXPECT_EQ(worth[1].name, "gemm");
  EXPECT_NEAR(worth[1].ratio, 1.2 / 0.6, 1e-9);  // softmax takes 1000 us again, the others stay one launch
  EXPECT_NEAR(worth[1].ci95.lo, 1.2 / 0.6, 1e-9);
  EXPECT_NEAR(worth[1].ci95.hi, 1.2 / 0.6, 1e-9);
  EXPECT_EQ(worth[2].name, "fusion");
  EXPECT_NEAR(worth[2].ratio, 1.0 / 0.6, 1e-9);
}

TEST_F(Receipts, EndWithTheFirstPlanAgainstTheLast) {
  ClimbResult result = climbed().result;
  EXPECT_NEAR(result.baseline_ms, 1.6, 1e-9);
  EXPECT_NEAR(result.final_ms, 0.6, 1e-9);
  EXPECT_TRUE(result.against_baseline.is_faster());
  EXPECT_NEAR(result.against_baseline.ratio, 1.6 / 0.6, 1e-9);
  EXPECT_TRUE(result.against_no_climb.is_faster());
  EXPECT_NEAR(result.against_no_climb.ratio, 2, 1e-9);
  EXPECT_NEAR(result.against_no_climb.before_ms, 1.2, 1e-9);
  EXPECT_NEAR(result.baseline.median_ms, 1.6, 1e-9);
  EXPECT_NEAR(result.final_latency.median_ms, 0.6, 1e-9);
  EXPECT_NEAR(result.cold.median_ms, 0.6, 1e-9);
  EXPECT_EQ(result.kernels_before, 3);
  EXPECT_EQ(result.kernels_after, 2);
}

TEST_F(Receipts, GiveEveryLaunchItsTimeAndItsFloor) {
  ClimbResult result = climbed().result;
  ASSERT_EQ(result.ops.size(), 2u);
  EXPECT_NEAR(result.ops[0].us, 400 - kHandoffUs, 1e-6);
  EXPECT_NEAR(result.ops[1].us, 200 - kHandoffUs, 1e-6);
  EXPECT_NEAR(result.host_us, 2 * kHandoffUs, 1e-6);
  for (const OpTime& op : result.ops) EXPECT_NEAR(op.floor_us, 2 * 16 * 4 * 1e-3, 1e-9) << "bytes, at 1 GB/s";
  EXPECT_NEAR(result.floor_ms, 2 * 0.128e-3, 1e-9);
  EXPECT_NEAR(result.baseline_categories_us.at("element-wise"), 2 * (300 - kHandoffUs), 1e-6);
  EXPECT_NEAR(result.baseline_categories_us.at("launch/host"), 3 * kHandoffUs, 1e-6);
}

TEST_F(Receipts, DrawOneInferenceOfTheFinalPlan) {
  auto events = nlohmann::json::parse(climbed().trace.to_json())["traceEvents"];
  std::vector<double> starts, durations;
  for (const auto& event : events)
    if (event["ph"] == "X") starts.push_back(event["ts"]), durations.push_back(event["dur"]);
  EXPECT_THAT(starts, ::testing::ElementsAre(0, 400));
  EXPECT_THAT(durations, ::testing::ElementsAre(400, 200));
}

TEST_F(Receipts, TellWhichKernelWonAProblemAlone) {
  ClimbOutcome outcome = climbed();
  ASSERT_EQ(outcome.result.choices.size(), 1u);
  const Choice& softmax = outcome.result.choices[0];
  EXPECT_THAT(softmax.problem, StartsWith("softmax"));
  EXPECT_EQ(softmax.chosen, "softmax_fast");
  EXPECT_EQ(softmax.reason, "fastest when tuned alone");
  ASSERT_EQ(softmax.candidates.size(), 2u);
  EXPECT_NEAR(softmax.candidates[0].us, 1000, 1e-6);
  EXPECT_EQ(softmax.candidates[0].verdict, "2.50 x the chosen one's time");
  EXPECT_NEAR(softmax.candidates[1].us, 400, 1e-6);
  EXPECT_EQ(outcome.recipe.choices.at(softmax.problem).kernel, "softmax_fast");
}

TEST_F(Receipts, StandBesideWhatWasClimbedWhere) {
  subject.model.architecture = "none";
  subject.frozen["m"] = Tensor::of<int64_t>({3}, {1, 2, 3});
  for (const bool takes_text : {false, true}) {
    if (takes_text) subject.attachments["tokenizer.json"] = "{}";
    const ClimbOutcome outcome = climbed();
    const ClimbResult& result = outcome.result;
    EXPECT_EQ(result.model, "scripted");
    EXPECT_EQ(result.architecture, "none");
    EXPECT_EQ(result.takes_text, takes_text);
    EXPECT_EQ(result.device, target.fingerprint);
    EXPECT_EQ(result.dtype, "f32");
    EXPECT_EQ(result.precision, "f32");
    EXPECT_EQ(result.shapes, "x=f32[2,8] m=i64[3] (frozen)");
    EXPECT_EQ(result.threads, kThreads);
    EXPECT_EQ(result.budget_s, 20);
    EXPECT_GT(result.trials_s, 0);
    EXPECT_LT(result.trials_s, result.total_s);
    EXPECT_DOUBLE_EQ(result.weights_mb, static_cast<double>(outcome.plan->weight_bytes()) * 1e-6);
    EXPECT_DOUBLE_EQ(result.arena_mb, static_cast<double>(outcome.plan->arena_bytes) * 1e-6);
    EXPECT_TRUE(result.verified);
    EXPECT_EQ(result.verify_reason, "2 inputs against the scalar evaluator in f64");
    EXPECT_TRUE(result.environment.contains("libraries"));
  }
}

// A precision that is skipped is not wanted, whoever else asks for it.
TEST_F(Receipts, AreOfF32WherePrecisionIsSkipped) {
  options.dtype = DType::bf16;
  options.skip = {"precision"};
  const ClimbOutcome outcome = climbed();
  EXPECT_TRUE(outcome.recipe.precision.empty());
  EXPECT_FALSE(outcome.recipe.rungs.contains("precision"));
  EXPECT_EQ(outcome.result.precision, "f32");
}

TEST_F(Receipts, NeedNoMoreTimeThanTheBudget) {
  for (double seconds : {2.0, 20.0}) {
    options.budget_s = seconds;
    EXPECT_LE(climbed().result.total_s, seconds);
  }
}

class RungsTogether : public ScriptedClimb {
 protected:
  // One launch for the pointwise ops pays only with the kernel that tuning finds for it.
  RungsTogether() {
    set_kernels({{"softmax_plain", right<1000>}}, {{"pointwise_slow", right<1000>}, {"pointwise_fast", right<100>}});
  }
};

TEST_F(RungsTogether, AreKeptWhereEachAloneGainsNothing) {
  ClimbOutcome outcome = climbed();
  Receipt alone = receipt_of(outcome, "fusion");
  EXPECT_FALSE(alone.accepted);
  EXPECT_EQ(alone.reason, "slower: 0.80 x");
  expect_times(alone, 1.6, 1.6, 0.8);
  Receipt together = receipt_of(outcome, "reduce+capture+attention+gemm+projection+fusion+regions+join");
  EXPECT_TRUE(together.accepted) << together.reason;
  EXPECT_EQ(together.attempt, 2);
  expect_times(together, 1.6, 1.1, 1.6 / 1.1);
}

TEST_F(RungsTogether, AreEachWorthSomethingOfTheirOwn) {
  std::map<std::string, double> worth;
  for (const AblationRow& row : climbed().result.ablation) worth[row.name] = row.ratio;
  ASSERT_EQ(worth.size(), 3u) << "rungs that change no launch have no worth";
  EXPECT_NEAR(worth["capture"], 1, 1e-9);
  EXPECT_NEAR(worth["gemm"], 2.0 / 1.1, 1e-9);
  EXPECT_NEAR(worth["fusion"], 1.6 / 1.1, 1e-9);
}

class TimedInput : public ScriptedClimb {};

TEST_F(TimedInput, IsTheFirst) {
  set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", scripted::slow_below_zero<400>}});
  know_softmax({{"softmax_fast", 400}, {"softmax_plain", 1000}});
  ClimbOutcome outcome = climbed();
  expect_times(receipt_of(outcome, "gemm"), 1.2, 0.6, 2);
  EXPECT_NEAR(outcome.result.final_latency.median_ms, 0.6, 1e-9);
  options.inputs = {numbers(-1), numbers(1)};
  expect_times(receipt_of(climbed(), "gemm"), 1.2, 1.2, 1.2 / 1.4);
}

}  // namespace
}  // namespace rung

// Verifying, measuring and explaining as functions: their results, their JSON, their errors.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "support.hpp"
#include "support/graphs.hpp"
#include "tasks/bench.hpp"
#include "tasks/explain.hpp"
#include "tasks/profile.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

ModelOptions little_model() {
  return {.path = kBert, .threads = 1, .inputs = given_arrays(*read_npz(kBert + "/inputs.npz"))};
}

TEST(VerifyTasks, JudgeByTheReference) {
  auto verified = verify({.model = little_model()});
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_TRUE(verified->verification.passed) << verified->verification.reason;
  const Json json = to_json(*verified);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["outputs"].size(), 2u);
  EXPECT_THAT(verified->reason, HasSubstr("1 input against the "));
}

TEST(VerifyTasks, CompareWithGivenOutputs) {
  VerifyTask task{.model = little_model(), .reference = given_arrays(*read_npz(kBert + "/outputs.npz"))};
  auto verified = verify(task);
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_TRUE(verified->verification.passed) << verified->verification.reason;
  EXPECT_EQ(verified->reason, "against given outputs");

  NamedTensors wrong = *read_npz(kBert + "/outputs.npz");
  wrong.at("sentence_embedding") = random_tensor("wrong", wrong.at("sentence_embedding").type());
  task.reference = given_arrays(wrong);
  verified = verify(task);
  ASSERT_TRUE(verified) << "a wrong answer is a result: " << verified.error().message;
  EXPECT_FALSE(verified->verification.passed);
  EXPECT_EQ(to_json(*verified)["passed"], false);

  wrong.erase("sentence_embedding");
  task.reference = given_arrays(wrong);
  verified = verify(task);
  ASSERT_FALSE(verified) << "what is not compared is not verified";
  EXPECT_EQ(verified.error().kind, ErrorKind::mismatch);
  EXPECT_THAT(verified.error().message,
              HasSubstr("holds no array 'sentence_embedding' to compare output 'sentence_embedding' with; it has: "));
  task.map["embedding"] = "x";
  verified = verify(task);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("map embedding=x: got output 'embedding', wanted one of: "));
}

TEST(VerifyTasks, CompareReplaysWithEachOther) {
  auto replays = verify_replays({.model = little_model()}, 3);
  ASSERT_TRUE(replays) << replays.error().message;
  EXPECT_EQ(replays->count, 3);
  EXPECT_EQ(to_json(*replays)["passed"], true);
}

TEST(BenchTasks, MeasureAsOftenAsTheyAreTold) {
  BenchTask task{.model = little_model(), .runs = 3};
  auto benched = bench(task);
  ASSERT_TRUE(benched) << benched.error().message;
  EXPECT_EQ(benched->measured.latency.runs, 3);
  const Json json = to_json(*benched);
  EXPECT_EQ(json["runs"], 3);
  EXPECT_GT(json["median_ms"].get<double>(), 0);
  EXPECT_EQ(json["kernels"], benched->plan->steps.size());

  task.runs = 0;
  EXPECT_THAT(bench(task).error().message, HasSubstr("runs: got 0"));
  task = {.model = little_model(), .rate_hz = -1};
  EXPECT_EQ(bench(task).error().kind, ErrorKind::usage);
}

TEST(BenchTasks, TakeARecipe) {
  auto benched = bench({.model = little_model(), .recipe = Recipe{.threads = 1}, .runs = 1});
  ASSERT_TRUE(benched) << benched.error().message;
  auto by_default = bench({.model = little_model(), .runs = 1});
  ASSERT_TRUE(by_default) << by_default.error().message;
  EXPECT_GT(benched->plan->steps.size(), by_default->plan->steps.size()) << "nothing is fused";
}

TEST(ProfileTasks, TimeEveryLaunch) {
  auto profiled = profile({.model = little_model()});
  ASSERT_TRUE(profiled) << profiled.error().message;
  const Json json = to_json(*profiled);
  EXPECT_EQ(json["ops"].size(), profiled->profile.ops.size());
  EXPECT_FALSE(json["ops"].empty());
  EXPECT_FALSE(json["stages"].empty());
}

TEST(ExplainTasks, SayOfEveryKernelWhetherItCan) {
  auto explanation = explain({.model = little_model()});
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_FALSE(explanation->passes.rows.empty());
  ASSERT_FALSE(explanation->problems.empty());
  for (const ExplainedProblem& problem : explanation->problems) {
    EXPECT_GE(problem.count, 1);
    for (const auto& [kernel, verdict] : problem.kernels) EXPECT_TRUE(verdict.yes || !verdict.reason.empty()) << kernel;
  }
  EXPECT_EQ(to_json(*explanation)["problems"].size(), explanation->problems.size());
}

}  // namespace
}  // namespace rung::tasks

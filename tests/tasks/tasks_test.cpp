// Building, verifying, measuring and explaining as functions: their results, their JSON, their errors.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "device/cpu/cpu_info.hpp"
#include "ir/safetensors.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "support/bert_tiny.hpp"
#include "support/graphs.hpp"
#include "support/pace.hpp"
#include "support/temporary_directory.hpp"
#include "tasks/bench.hpp"
#include "tasks/build.hpp"
#include "tasks/explain.hpp"
#include "tasks/profile.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

OpenOptions little_model() {
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

// A model whose author made it in 16 bits: PyTorch's own answers are rounded as often as the plan's.
TEST(VerifyTasks, AllowGivenOutputsOf16BitsTheirRounding) {
  for (const char* name : {"bert_bf16", "bert_f16", "llama_bf16"}) {
    const std::string files = std::string(RUNG_TEST_DATA) + "/exported/" + name;
    VerifyTask task{
        .model = {.path = files + ".pt2", .threads = 1, .inputs = given_arrays(*read_npz(files + ".in.npz"))},
        .reference = given_arrays(*read_npz(files + ".out.npz"))};
    auto verified = verify(task);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_TRUE(verified->verification.passed) << name << ": " << verified->verification.reason;
    NamedTensors wrong = *read_npz(files + ".out.npz");
    for (auto& [output, values] : wrong)
      for (float& value : values.as<float>()) value *= 1.03f;
    task.reference = given_arrays(wrong);
    verified = verify(task);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_FALSE(verified->verification.passed) << name;
  }
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

// bert_tiny with one token whose squares are beyond f32: a plan in f32 is wrong where it occurs, the reference is not.
class VerifyOverflow : public ::testing::Test {
 protected:
  VerifyOverflow() { std::filesystem::copy(kBert, folder.path(), std::filesystem::copy_options::recursive); }
  void enlarge(int64_t token) {
    constexpr float kFactor = 1e25f;
    auto file = Safetensors::open(kBert + "/model.safetensors");
    ASSERT_TRUE(file) << file.error().message;
    TensorList tensors;
    for (const auto& [name, entry] : (*file)->tensors()) {
      auto value = (*file)->copy(name);
      ASSERT_TRUE(value) << value.error().message;
      if (name.ends_with("word_embeddings.weight")) {
        const auto width = static_cast<size_t>(value->shape()[1]);
        for (float& weight : value->as<float>().subspan(static_cast<size_t>(token) * width, width)) weight *= kFactor;
      }
      tensors.emplace_back(name, *value);
    }
    ASSERT_TRUE(write_safetensors(folder / "model.safetensors", tensors, {}));
  }
  TemporaryDirectory folder;
  VerifyTask task{.model = {.path = folder.path(), .threads = 1, .shapes = {{"input_ids", {1, 3}}}}};
};

TEST_F(VerifyOverflow, FailsOnWhicheverInputIsWrong) {
  if (!cpu::cpu_info().avx2) GTEST_SKIP() << "the processor has no AVX2: norms add up in f64";
  auto opened = open_model(task.model);
  ASSERT_TRUE(opened) << opened.error().message;
  std::vector<std::set<int64_t>> tokens;  // of each input
  for (const NamedTensors& input : verification_inputs(*opened)) {
    const auto values = input.at("input_ids").as<int64_t>();
    tokens.emplace_back(values.begin(), values.end());
  }
  ASSERT_EQ(tokens.size(), 3u);
  for (size_t wrong = 0; wrong < tokens.size(); ++wrong) {
    SCOPED_TRACE(wrong);
    std::optional<int64_t> only_there;
    for (const int64_t token : tokens[wrong])
      if (std::ranges::count_if(tokens, [&](const auto& of_one) { return of_one.contains(token); }) == 1)
        only_there = token;
    ASSERT_TRUE(only_there);
    enlarge(*only_there);
    auto verified = verify(task);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_FALSE(verified->verification.passed);
    EXPECT_NE(verified->verification.reason, "");
    EXPECT_EQ(to_json(*verified)["passed"], false);
  }
}

TEST(VerifyTasks, CompareReplaysWithEachOther) {
  auto replays = verify_replays({.model = little_model()}, 3);
  ASSERT_TRUE(replays) << replays.error().message;
  EXPECT_EQ(replays->count, 3);
  EXPECT_EQ(to_json(*replays)["passed"], true);
}

// A kernel that no tuning chooses stands for what the recipe says.
class RetunedBuild : public ::testing::Test {
 protected:
  static constexpr const char* kGiven = "linear_fallback";
  RetunedBuild() {
    auto built = build({.model = task.model, .recipe = {}, .database = ""});
    EXPECT_TRUE(built) << built.error().message;
    if (!built) return;
    recipe = built->plan->recipe;
    recipe.tuned_kernels = true;
    for (const Step& step : built->plan->steps)
      if (step.problem.starts_with("linear")) linears.insert(step.problem);
  }
  BuiltPlan retuned() {
    task.recipe = recipe;
    auto built = build(task);
    EXPECT_TRUE(built) << built.error().message;
    return built ? *built : BuiltPlan{};
  }
  BuildTask task{.model = {.path = kBert, .threads = 1, .shapes = {{"input_ids", {1, 9}}}},
                 .recipe = {},
                 .retune = true,
                 .budget_s = 1.0 * kPace,
                 .database = ""};
  Recipe recipe;
  std::set<std::string> linears;
};

TEST_F(RetunedBuild, KeepsEveryChoiceOfTheRecipeThatFits) {
  ASSERT_GT(linears.size(), 1u);
  for (const std::string& problem : linears) recipe.choices[problem] = {kGiven, {}};
  recipe.choices["linear of another model"] = {kGiven, {}};
  const BuiltPlan built = retuned();
  ASSERT_TRUE(built.plan);
  EXPECT_EQ(built.kept, linears.size());
  EXPECT_EQ(built.left_out, 1u);
  EXPECT_EQ(built.plan->recipe.choices.size(), built.kept + built.tuned);
  for (const Step& step : built.plan->steps)
    EXPECT_EQ(step.choice.kernel == kGiven, linears.contains(step.problem)) << step.problem;
}

TEST_F(RetunedBuild, TunesWhatTheRecipeLeavesOpen) {
  if (!cpu::cpu_info().avx2) GTEST_SKIP() << "the processor has no AVX2: problems have one kernel each";
  const std::string given = *linears.begin();
  recipe.choices[given] = {kGiven, {}};
  const BuiltPlan built = retuned();
  ASSERT_TRUE(built.plan);
  EXPECT_EQ(built.kept, 1u);
  EXPECT_EQ(built.left_out, 0u);
  EXPECT_GT(built.tuned, 0u);
  for (const Step& step : built.plan->steps)
    EXPECT_EQ(step.choice.kernel == kGiven, step.problem == given) << step.problem;
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

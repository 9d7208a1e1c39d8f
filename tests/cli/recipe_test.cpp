// Recipes that a person gives: every command builds the same plan of them, or refuses them in the same words.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "plan/file.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class GivenRecipe : public testing::Test {
 protected:
  Tool tool;
  Json recipe{{"version", 1}, {"rungs", {"reduce", "fusion"}}, {"capture", true}, {"tuned_kernels", true},
              {"threads", 1}, {"choices", Json::object()}};

  Ran run(const std::string& command, const std::vector<std::string>& more = {}) {
    tool.folder().write("recipe.json", recipe.dump());
    std::vector<std::string> arguments{command,    bert_tiny(),         "--inputs", bert_tiny() + "/inputs.npz",
                                       "--recipe", tool / "recipe.json"};
    if (command == "build") arguments.insert(arguments.end(), {"--out", tool / "plan.rung"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  void expect_refused(int exit_code, const std::string& message, const std::vector<std::string>& more = {}) {
    for (const char* command : {"build", "run", "verify", "explain", "inspect"}) {
      SCOPED_TRACE(command);
      expect_error(run(command, more), exit_code, message);
    }
  }
  // A problem of the recipe's plan.
  std::string linear() {
    EXPECT_EQ(run("build").exit_code, 0);
    auto plan = load_plan(tool / "plan.rung", cpu_target());
    EXPECT_TRUE(plan) << plan.error().message;
    for (const Step& step : plan->steps)
      if (step.problem.starts_with("linear")) return step.problem;
    return "";
  }
};

TEST_F(GivenRecipe, IsVerifiedAsItIsBuilt) {
  recipe["choices"][linear()] = {{"kernel", "linear_openblas"}};
  Ran ran = run("verify", {"--json", "--log", "3"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["passed"], true);
  ASSERT_EQ(run("build").exit_code, 0);
  auto plan = load_plan(tool / "plan.rung", cpu_target());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(ran.err, HasSubstr(fmt::format("plan of {} steps", plan->steps.size())));
  EXPECT_THAT(ran.err, Not(HasSubstr("rung: tune "))) << "nothing is tuned";
  EXPECT_TRUE(is_empty(tool / "cache")) << "nothing is kept";
}

TEST_F(GivenRecipe, WithAnUnknownKernelIsRefused) {
  recipe["choices"][linear()] = {{"kernel", "linear_gone"}};
  expect_refused(1, "there is no linear kernel 'linear_gone'");
}

TEST_F(GivenRecipe, WhoseChoiceDecidesNothingIsRefusedByName) {
  recipe["choices"]["linear m=3"] = {{"kernel", "linear_openblas"}};
  expect_refused(1, "choice 'linear m=3': no launch");
  recipe["tuned_kernels"] = false;
  expect_refused(1, "'tuned_kernels' false");
}

TEST_F(GivenRecipe, IsRefusedWhereItsPrecisionNamesNoPart) {
  recipe["rungs"].push_back("precision");
  recipe["precision"] = {{{"labels", "encoder.layer.1"}, {"products", "bf16"}}};
  EXPECT_EQ(run("build").exit_code, 0);
  recipe["precision"].push_back({{"labels", "encoder.layer.9.output"}, {"products", "f32"}});
  expect_refused(1,
                 "precision of 'encoder.layer.9.output': no launch of this model has a label that begins so, but some "
                 "begin 'encoder.layer';");
}

TEST_F(GivenRecipe, OfSeveralPrecisionsIsVerifiedWithTheirCosts) {
  recipe["rungs"].push_back("precision");
  recipe["precision"] = {{{"labels", "encoder.layer.0"}, {"products", "bf16"}, {"values", "bf16"}},
                         {{"labels", "encoder.layer.1"}, {"attention", "bf16"}}};
  const Ran ran = run("verify", {"--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json costs = Json::parse(ran.out)["precision"];
  ASSERT_EQ(costs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    for (const auto& [field, value] : recipe["precision"][i].items()) EXPECT_EQ(costs[i][field], value);
    EXPECT_EQ(costs[i]["rel_l2_alone"], costs[1 - i]["rel_l2_without"]);
    EXPECT_GT(costs[i]["rel_l2_alone"], 1e-5);
  }
  EXPECT_THAT(run("verify").out, testing::ContainsRegex("encoder\\.layer\\.1 +- +bf16 +- +[0-9.e-]+ +[0-9.e-]+\n"));
  recipe["precision"].erase(1);
  EXPECT_EQ(Json::parse(run("verify", {"--json"}).out)["precision"], Json::array()) << "the outputs say it";
}

TEST_F(GivenRecipe, IsRefusedForOtherThreadsOrPrecision) {
  expect_refused(2, "the recipe is for 1 threads, got --threads 2", {"--threads", "2"});
  recipe["threads"] = 2;
  expect_refused(2, "the recipe is for 2 threads, got --threads 1", {"--threads", "1"});
  recipe["threads"] = 1;
  expect_refused(2, "the recipe's precision is f32, got --dtype bf16", {"--dtype", "bf16"});
  recipe["rungs"].push_back("precision");
  recipe["precision"] = "bf16";
  expect_refused(2, "the recipe's precision is bf16, got --dtype f32", {"--dtype", "f32"});
}

TEST_F(GivenRecipe, IsUsedHoweverVerifyCompares) {
  recipe["choices"]["linear m=3"] = {{"kernel", "linear_openblas"}};
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--reference", bert_tiny() + "/outputs.npz"}, {"--replays", "2"}})
    expect_error(run("verify", how), 1, "choice 'linear m=3'");
}

TEST_F(GivenRecipe, IsRefusedBesideAPlan) {
  ASSERT_EQ(run("build").exit_code, 0);
  const std::vector<std::string> rest{tool / "plan.rung", "--recipe", tool / "recipe.json"};
  for (std::vector<std::string> command : {std::vector<std::string>{"run"}, {"verify", "--replays", "2"}}) {
    command.insert(command.end(), rest.begin(), rest.end());
    expect_error(tool.run(command), 2, "is a plan, which has its own recipe");
  }
}

// The choices of another shape decide nothing here.
TEST_F(GivenRecipe, ForOtherShapesIsBuiltOnlyWhenRetuned) {
  const std::string other = linear();
  recipe["choices"][other] = {{"kernel", "linear_openblas"}};
  const std::vector<std::string> shape{"--shape", "input_ids=1,5", "--threads", "1"};
  tool.folder().write("recipe.json", recipe.dump());
  std::vector<std::string> build{"build", bert_tiny(), "--recipe", tool / "recipe.json", "--out", tool / "other.rung"};
  build.insert(build.end(), shape.begin(), shape.end());
  expect_error(tool.run(build), 1, "'rung build --retune'");
  build.insert(build.end(), {"--retune", "--budget", "1s", "--json"});
  Ran ran = tool.run(build);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  Json choices = Json::parse(ran.out)["choices"];
  EXPECT_EQ(choices["left_out"], 1);
  EXPECT_EQ(choices["kept"], 0);
  EXPECT_GT(choices["tuned"], 0);
  auto plan = load_plan(tool / "other.rung", cpu_target());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->recipe.choices.contains(other));
  EXPECT_EQ(plan->recipe.choices.size(), choices["tuned"]);
}

TEST_F(GivenRecipe, KeepsItsFittingChoicesWhenRetuned) {
  const std::string own = linear();
  recipe["choices"][own] = {{"kernel", "linear_openblas"}};
  recipe["choices"][own + " of another model"] = {{"kernel", "linear_openblas"}};
  Ran ran = run("build", {"--retune", "--budget", "1s", "--database", tool / "empty.json", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["choices"]["kept"], 1);
  EXPECT_EQ(Json::parse(ran.out)["choices"]["left_out"], 1);
  auto plan = load_plan(tool / "plan.rung", cpu_target());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->recipe.choices.at(own).kernel, "linear_openblas");
}

TEST(NoRecipe, BuildsThePlanThatRunsWithoutAClimb) {
  Tool tool;
  Ran ran = tool.run({"build", bert_tiny(), "--shape", "input_ids=1,9", "--threads", "1", "--out", tool / "plan.rung"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  auto plan = load_plan(tool / "plan.rung", cpu_target());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->recipe.capture);
  EXPECT_TRUE(plan->recipe.rungs.contains("fusion"));
  EXPECT_FALSE(plan->recipe.rungs.contains("precision"));
}

}  // namespace
}  // namespace rung

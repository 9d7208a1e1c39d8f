// `rung inspect`, `explain` and `build` agree about one model or plan, and with what its run finds.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

class Inspected : public testing::Test {
 protected:
  Tool tool;
  const std::string plan = tool / "plan.rung", inputs = bert_tiny() + "/inputs.npz";

  Json object(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Ran ran = tool.run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false);
  }
  Json built(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"build", bert_tiny(), "--inputs", inputs, "--threads", "1", "--out", plan};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return object(arguments);
  }
  static std::set<std::string> names_of(const Json& ports) {
    std::set<std::string> names;
    for (const Json& port : ports) names.insert(port.at("name"));
    return names;
  }
};

TEST_F(Inspected, ModelIsTheSumOfItsOps) {
  const Json model = object({"inspect", bert_tiny(), "--shape", kShape});
  size_t nodes = 0;
  double flops = 0;
  for (const auto& [name, op] : model.at("ops").items()) {
    nodes += op.at("count").get<size_t>();
    flops += op.at("flops").get<double>();
  }
  EXPECT_EQ(nodes, model.at("nodes"));
  EXPECT_GT(flops, 0);
  EXPECT_DOUBLE_EQ(flops, model.at("flops"));
  EXPECT_GE(model["ops"]["linear"]["bytes"], 32.0 * 64 * 4) << "its weights at least";
}

TEST_F(Inspected, ModelSaysWhichInputsItCannotDoWithout) {
  std::map<std::string, bool> required;
  const Json model = object({"inspect", bert_tiny()});
  for (const Json& input : model.at("inputs")) {
    required[input.at("name")] = input.at("required");
    EXPECT_NE(input.at("meaning"), "") << input;
  }
  EXPECT_TRUE(required.at("input_ids"));
  EXPECT_FALSE(required.at("attention_mask"));
}

TEST_F(Inspected, ModelReflectsThePassesOfAGivenRecipe) {
  const std::string recipe = tool.folder().write("recipe.json", R"({"version":1,"rungs":["reduce","fusion"]})");
  const Json plain = object({"inspect", bert_tiny(), "--shape", kShape}),
             passed = object({"inspect", bert_tiny(), "--shape", kShape, "--recipe", recipe});
  EXPECT_FALSE(plain.contains("passes"));
  EXPECT_LT(passed.at("nodes"), plain.at("nodes"));
  EXPECT_EQ(passed.at("passes").back().at("nodes"), passed.at("nodes"));
  std::set<std::string> rungs;
  for (const Json& pass : passed.at("passes")) rungs.insert(pass.at("rung"));
  EXPECT_TRUE(rungs.contains("fusion"));
}

TEST_F(Inspected, PlanIsWhatWasBuilt) {
  const Json build = built({"--freeze", "attention_mask,token_type_ids"}), told = object({"inspect", plan});
  EXPECT_EQ(build.at("plan"), plan);
  EXPECT_EQ(told.at("launches"), build.at("kernels"));
  EXPECT_EQ(told.at("weight_bytes"), build.at("weight_bytes"));
  EXPECT_EQ(told.at("arena_bytes"), build.at("arena_bytes"));
  EXPECT_GT(told.at("weight_bytes"), told.at("arena_bytes"));
  size_t launches = 0;
  for (const auto& [name, count] : told.at("kernels").items()) launches += count.get<size_t>();
  EXPECT_EQ(launches, told.at("launches"));
  EXPECT_EQ(names_of(told.at("inputs")), (std::set<std::string>{"input_ids"}));
  EXPECT_EQ(names_of(told.at("frozen")), (std::set<std::string>{"attention_mask", "token_type_ids"}));
  EXPECT_EQ(names_of(told.at("outputs")), (std::set<std::string>{"last_hidden_state", "sentence_embedding"}));
  EXPECT_EQ(told.at("recipe").at("threads"), 1);
}

TEST_F(Inspected, PlanHasNoGraphAndNoOtherRecipe) {
  built();
  const std::string recipe = tool.folder().write("recipe.json", R"({"version":1})");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--graph"}, {"--recipe", recipe}}) {
    std::vector<std::string> arguments{"inspect", plan};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_error(tool.run(arguments), 2, "is a plan: --graph, --scopes and --recipe need a model");
  }
}

TEST_F(Inspected, ScopesPrintLayersThatAreAlikeOnce) {
  const Ran ran = tool.run({"inspect", bert_tiny(), "--shape", kShape, "--scopes", "--threads", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("0 to 1, each: [0-9]+ launches from [0-9]+ ops\n"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("linear_[a-z0-9]+ +f32\\[1,9,96\\] +query, key, value\n"));
  const Json build = built(), told = object({"inspect", bert_tiny(), "--scopes", "--shape", kShape, "--threads", "1"});
  EXPECT_THAT(ran.out, testing::StartsWith(build.at("kernels").dump() + " launches from "));
  EXPECT_EQ(told.at("scopes").at("scopes").size(), 2u) << "embeddings, encoder";
}

TEST_F(Inspected, ExplainSaysWhichNamedPartsWereFound) {
  const Ran ran = tool.run({"explain", bert_tiny(), "--shape", kShape, "--threads", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex(
                           "found +one product +2 x encoder.layer.\\*.attention.self.\\{query,key,value\\}  linear_"));
  const std::string recipe = tool.folder().write("recipe.json", R"({"version":1,"rungs":["projection"]})");
  const Ran without = tool.run({"explain", bert_tiny(), "--shape", kShape, "--recipe", recipe});
  EXPECT_THAT(without.out, testing::ContainsRegex("NOT FOUND attention +2 x encoder.layer.\\*.attention  stays "));
}

TEST_F(Inspected, ModelsLaunchesAreEachExplained) {
  const Json build = built(), explained = object({"explain", bert_tiny(), "--shape", kShape, "--threads", "1"});
  size_t launches = 0;
  for (const Json& problem : explained.at("problems")) {
    launches += problem.at("count").get<size_t>();
    const Json& rows = problem.at("kernels");
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row.at("yes").get<bool>(); }))
        << problem;
  }
  EXPECT_EQ(launches, build.at("kernels"));
}

}  // namespace
}  // namespace rung

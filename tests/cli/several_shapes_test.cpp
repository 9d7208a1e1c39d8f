// Plans for several shapes in one file, from the command line: made, listed, selected, run.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SeveralShapes : public testing::Test {
 protected:
  Tool tool;
  const std::string plan = tool / "plan.rung";

  Ran make(const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{command, bert_tiny(), "--threads",
                                       "1",     "--out",     command == "build" ? plan : tool / "out"};
    for (const char* shape : {"input_ids=1,5", "input_ids=1,9"}) arguments.insert(arguments.end(), {"--shape", shape});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  Json json_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Ran ran = tool.run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out);
  }
  uint64_t weight_bytes(const std::string& shape) {
    const std::string one = tool / "one.rung";
    return json_of({"build", bert_tiny(), "--threads", "1", "--shape", shape, "--out", one})["weight_bytes"];
  }
};

TEST_F(SeveralShapes, ShareOneFileAndItsWeights) {
  const Ran built = make("build");
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Json listed = json_of({"inspect", plan});
  ASSERT_EQ(listed["plans"].size(), 2u);
  EXPECT_THAT(listed["plans"][0]["shapes"], HasSubstr("input_ids=1,5"));
  EXPECT_THAT(listed["plans"][1]["shapes"], HasSubstr("input_ids=1,9"));
  const uint64_t both = listed["weight_bytes"], longer = weight_bytes("input_ids=1,9");
  EXPECT_GE(both, longer);
  EXPECT_LT(both, longer + longer / 10) << "position embeddings alone differ";
}

TEST_F(SeveralShapes, AreSelectedByShapeOrInputs) {
  ASSERT_EQ(make("build").exit_code, 0);
  EXPECT_THAT(json_of({"inspect", plan, "--shape", "input_ids=1,9"})["shapes"], HasSubstr("input_ids=1,9"));
  EXPECT_GT(json_of({"bench", plan, "--shape", "input_ids=1,5", "--runs", "3"})["kernels"], 0);
  const Json ran = json_of({"run", plan, "--inputs", bert_tiny() + "/inputs.npz"});
  EXPECT_EQ(ran["runs"][0]["outputs"][0]["type"], "f32[1,9,32]");
  expect_error(tool.run({"bench", plan}), 2, "holds 2 plans: choose one with --shape; there is one for: ");
  expect_error(tool.run({"bench", plan, "--shape", "input_ids=1,7"}), 2, "no plan is for input_ids=1,7");
  expect_error(tool.run({"bench", plan, "--shape", "ids=1,9"}), 2, "has no input of that name");
}

TEST_F(SeveralShapes, AnswerAsAPlanForOneDoes) {
  ASSERT_EQ(make("build").exit_code, 0);
  const std::vector<std::string> inputs{"--inputs", bert_tiny() + "/inputs.npz"};
  const Ran compared =
      tool.run({"verify", plan, inputs[0], inputs[1], "--reference", bert_tiny() + "/outputs.npz", "--json"});
  EXPECT_EQ(Json::parse(compared.out)["passed"], true) << compared.out << compared.err;
}

TEST_F(SeveralShapes, AreClimbedOneByOneWithinOneBudget) {
  const Ran climbed = make("climb", {"--budget", "4s", "--json"});
  ASSERT_EQ(climbed.exit_code, 0) << climbed.err;
  const Json json = Json::parse(climbed.out);
  ASSERT_EQ(json["plans"].size(), 2u);
  EXPECT_THAT(json["plans"][1]["shapes"], HasSubstr("input_ids=i64[1,9]"));
  for (const char* shape : {"input_ids=1,5", "input_ids=1,9"})
    for (const char* file : {"recipe.json", "report.html", "report.json", "report.md", "trace.json"})
      EXPECT_TRUE(std::filesystem::exists(tool / ("out/" + std::string(shape) + "/" + file))) << shape << file;
  EXPECT_EQ(json_of({"inspect", tool / "out/plan.rung"})["plans"].size(), 2u);
  const Ran again = make("build", {"--recipe", tool / "out/input_ids=1,5/recipe.json", "--recipe",
                                   tool / "out/input_ids=1,9/recipe.json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json_of({"inspect", plan})["plans"], json_of({"inspect", tool / "out/plan.rung"})["plans"])
      << "its recipes rebuild it";
}

TEST_F(SeveralShapes, AreEachBuiltByTheirOwnRecipe) {
  ASSERT_EQ(make("build").exit_code, 0);
  Json recipe = json_of({"inspect", plan})["plans"][0]["recipe"];
  const std::string all = tool.folder().write("all.json", recipe.dump());
  recipe["rungs"] = Json::array();
  const std::string none = tool.folder().write("none.json", recipe.dump());
  const Ran built = make("build", {"--recipe", all, "--recipe", none});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Json plans = json_of({"inspect", plan})["plans"];
  EXPECT_EQ(plans[0]["recipe"]["rungs"].size(), 5u);
  EXPECT_EQ(plans[1]["recipe"]["rungs"], Json::array());
  EXPECT_GT(plans[1]["launches"], plans[0]["launches"]);
}

TEST_F(SeveralShapes, AreRefusedWhereTheyCannotBeMeant) {
  expect_error(make("build", {"--shape", "token_type_ids=1,5", "--shape", "token_type_ids=1,9", "--shape",
                              "token_type_ids=1,9"}),
               2, "'input_ids' has 2 shapes, wanted 1, or 3 as another input has");
  expect_error(make("build", {"--recipe", "a.json", "--recipe", "b.json", "--recipe", "c.json"}), 2,
               "--recipe: got 3 for 2 plans, wanted one, or one for each");
  expect_error(tool.run({"bench", bert_tiny(), "--shape", "input_ids=1,5", "--shape", "input_ids=1,9"}), 2,
               "got 2 shapes of one input, wanted one");
}

}  // namespace
}  // namespace rung

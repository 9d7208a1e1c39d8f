// rung compare: its exit codes, what it prints and writes, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class CompareCommand : public testing::Test {
 protected:
  Tool tool;

  // A plan of bert_tiny without any rung: slower than the default one, by much.
  std::string slow_plan() {
    tool.folder().write("nothing.json", R"({"version":1,"threads":1})");
    const Ran built = tool.run({"build", bert_tiny(), "--shape", "input_ids=1,20", "--recipe", tool / "nothing.json",
                                "--out", tool / "slow.rung"});
    EXPECT_EQ(built.exit_code, 0) << built.err;
    return tool / "slow.rung";
  }
  // A program that answers as another build would: every block takes `ms`, a shell's expression of its number i.
  std::string fake(const std::string& name, const std::string& ms, const std::string& more = "") {
    const std::string count = tool / (name + ".count");
    tool.folder().write(name, "#!/bin/sh\ncase \"$1\" in --version) echo 1;; run) exec " RUNG_TOOL " \"$@\"" + more +
                                  ";; bench) echo ready; while read word block; do i=$(($(cat '" + count +
                                  "') + 1)); echo $i > '" + count + "'; echo \"{\\\"median_ms\\\": " + ms +
                                  "}\"; done;; esac\n");
    tool.folder().write(name + ".count", "0\n");
    std::filesystem::permissions(tool / name, std::filesystem::perms::owner_all);
    return tool / name;
  }
  Ran compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--budget", "1s"});
    return tool.run(arguments);
  }
};

TEST_F(CompareCommand, EndsWith1OnlyWhereBIsSlower) {
  const std::string slow = slow_plan();
  const Ran slower = compare({bert_tiny(), slow, "--threads", "1"});
  EXPECT_EQ(slower.exit_code, 1) << slower.out << slower.err;
  EXPECT_THAT(error_line(slower), HasSubstr("slower than A, beyond the limit of 3 %: B takes "));
  EXPECT_THAT(slower.out, HasSubstr("the outputs agree"));
  const Ran faster = compare({slow, bert_tiny(), "--threads", "1"});
  EXPECT_EQ(faster.exit_code, 0) << faster.out << faster.err;
  EXPECT_THAT(faster.out, HasSubstr("faster than A: B takes 0."));
  EXPECT_EQ(faster.err, "");
  const Ran allowed = compare({bert_tiny(), slow, "--threads", "1", "--max-slowdown", "5000%"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.out << allowed.err;
}

TEST_F(CompareCommand, TakesARecipeInsteadOfASecondModel) {
  tool.folder().write("nothing.json", R"({"version":1,"threads":1})");
  const Ran ran = compare({bert_tiny(), "--recipe-b", tool / "nothing.json", "--threads", "1", "--json", "--markdown",
                           tool / "comment.md"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["verdict"], "slower");
  EXPECT_EQ(json["b"]["recipe"], tool / "nothing.json");
  EXPECT_EQ(json["outputs_agree"], true);
  EXPECT_LT(json["speedup"]["ci95"][1].get<double>(), 1);
  const std::string comment = read_text_file(tool / "comment.md").value_or("");
  EXPECT_THAT(comment, HasSubstr("### B is "));
  EXPECT_THAT(comment, HasSubstr(json["headline"].get<std::string>()));
}

TEST_F(CompareCommand, RunsAnotherBuildOfTheTool) {
  const Ran ran = compare({bert_tiny(), "--tool-b", RUNG_TOOL, "--shape", "input_ids=1,20", "--threads", "1",
                           "--max-slowdown", "300%", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["b"]["tool"], RUNG_TOOL);
  EXPECT_EQ(json["a"]["version"], json["b"]["version"]);
  EXPECT_EQ(json["outputs_agree"], true) << ran.out;
}

TEST_F(CompareCommand, EndsWith3WhereItIsUnclear) {
  const std::string steady = fake("steady", "10"), wavering = fake("wavering", "$((5 + i % 2 * 15))");
  const Ran unclear = compare({bert_tiny(), "--tool-a", steady, "--tool-b", wavering, "--threads", "1", "--json"});
  EXPECT_EQ(unclear.exit_code, 3) << unclear.out << unclear.err;
  EXPECT_THAT(error_line(unclear), HasSubstr("unclear: B may or may not be slower than A by more than 3 %"));
  EXPECT_EQ(Json::parse(unclear.out)["verdict"], "unclear");
  const Ran clear = compare({bert_tiny(), "--tool-a", steady, "--tool-b", steady, "--threads", "1"});
  EXPECT_EQ(clear.exit_code, 0) << clear.out << clear.err;
}

// Outputs that differ are no question of a longer budget.
TEST_F(CompareCommand, EndsWith1ForDifferentOutputsWhateverTheTimes) {
  const std::string steady = fake("steady", "10"),
                    wrong = fake("wavering", "$((5 + i % 2 * 15))", " --random-weights 7");
  std::vector<std::string> asked{bert_tiny(), "--tool-a", steady, "--tool-b", wrong, "--threads", "1"};
  EXPECT_EQ(compare(asked).exit_code, 3);
  asked.emplace_back("--same-outputs");
  const Ran ran = compare(asked);
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_THAT(error_line(ran), HasSubstr("the outputs differ: "));
}

TEST_F(CompareCommand, TakesARecipeAndLimitForEitherSide) {
  tool.folder().write("nothing.json", R"({"version":1,"threads":1})");
  const std::string recipe = tool / "nothing.json";
  const Ran slow_a = compare({bert_tiny(), "--recipe-a", recipe, "--threads", "1", "--json"});
  EXPECT_EQ(slow_a.exit_code, 0) << slow_a.err;
  const Json json = Json::parse(slow_a.out);
  EXPECT_EQ(json["verdict"], "faster");
  EXPECT_EQ(json["a"]["recipe"], recipe);
  EXPECT_NE(json["b"]["recipe"], recipe);
  EXPECT_GT(json["speedup"]["ci95"][0].get<double>(), 1);
  for (const auto& [limit, exit_code] : {std::pair{"5000 %", 0}, {"50%", 1}})
    EXPECT_EQ(compare({bert_tiny(), "--recipe-b", recipe, "--threads", "1", "--max-slowdown", limit}).exit_code,
              exit_code)
        << limit;
}

// The other build's weights are others.
TEST_F(CompareCommand, FailsForOtherOutputsWhereAsked) {
  const std::string steady = fake("steady", "10"), wrong = fake("wrong", "10", " --random-weights 7");
  const std::vector<std::string> sides{bert_tiny(), "--tool-a", steady, "--tool-b", wrong, "--threads", "1"};
  EXPECT_EQ(compare(sides).exit_code, 0);
  std::vector<std::string> asked = sides;
  asked.emplace_back("--same-outputs");
  const Ran differs = compare(asked);
  EXPECT_EQ(differs.exit_code, 1) << differs.out;
  EXPECT_THAT(error_line(differs), HasSubstr("the outputs differ: "));
  EXPECT_THAT(differs.out, HasSubstr("differs"));
}

TEST_F(CompareCommand, RefusesWhatCannotBeMeant) {
  expect_error(compare({bert_tiny()}), 2, "got one model, wanted B too, or an option that makes B differ from A");
  expect_error(compare({}), 2, "A is required");
  for (const char* limit : {"0.03", "3", "%", "-3%", "0%", "3%%", "nan%", "many"})
    expect_error(compare({bert_tiny(), bert_tiny(), "--max-slowdown", limit}), 2, "max-slowdown");
  expect_error(compare({bert_tiny(), slow_plan(), "--shape", "input_ids=1,9"}), 2, "no plan is for input_ids=1,9");
  expect_error(compare({bert_tiny(), tool / "nowhere.rung"}), 1, "B: ");
  expect_error(compare({slow_plan(), slow_plan(), "--dtype", "bf16"}), 2, "is a plan");
  expect_error(compare({bert_tiny(), "--tool-b", tool / "nowhere"}), 1, "cannot start");
  expect_error(compare({slow_plan(), "--recipe-b", tool / "nothing.json"}), 2, "is a plan, which has its own recipe");
}

// The example knows no flag that the command does not have.
TEST_F(CompareCommand, IsWhatTheExampleWorkflowRuns) {
  const std::string help = tool.run({"compare", "--help"}).out;
  const std::string workflow = *read_text_file(RUNG_DOCS "/../examples/compare_workflow.yml");
  const std::regex flag("--[a-z][a-z-]+");
  const size_t begin = workflow.find("rung compare");
  ASSERT_NE(begin, workflow.npos);
  const std::string command = workflow.substr(begin, workflow.find("\n\n", begin) - begin);
  size_t flags = 0;
  for (std::sregex_iterator at(command.begin(), command.end(), flag), end; at != end; ++at, ++flags)
    EXPECT_THAT(help, HasSubstr(at->str())) << "in the example workflow";
  EXPECT_GE(flags, 4u);
}

}  // namespace
}  // namespace rung

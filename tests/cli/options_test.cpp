// Options as they are given: texts and names as they stand, shapes from inputs, and the table of them all.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "api/support.hpp"
#include "cli/tool.hpp"
#include "device/gpu/cards.hpp"
#include "device/gpu/modules.hpp"
#include "import/model.hpp"
#include "import/npz.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class Encoder : public testing::Test {
 protected:
  Tool tool;
  TemporaryDirectory model;
  void SetUp() override { make_encoder(model); }

  // The texts that were run, as the tool says them.
  std::vector<std::string> texts_of(const std::vector<std::string>& texts) {
    std::vector<std::string> arguments{"run", "--shape", "input_ids=1,9"};
    for (const auto& text : texts) arguments.insert(arguments.end(), {"--text", text});
    arguments.insert(arguments.end(), {model.path(), "--json"});
    Ran ran = tool.run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::vector<std::string> got;
    const Json json = Json::parse(ran.out);
    for (const Json& run : json["runs"]) got.push_back(run["text"]);
    return got;
  }
};

TEST_F(Encoder, TakesEveryTextAsItStands) {
  const std::vector<std::string> texts{"[a, b]", "[MASK]", "{}", "%%", "-5 degrees", "--json", "", "a,b", "a", "b"};
  EXPECT_EQ(texts_of(texts), texts);
}

TEST_F(Encoder, TakesInputsFromTextOrFileNotBoth) {
  NamedTensors inputs = *read_npz(bert_tiny() + "/inputs.npz");
  ASSERT_TRUE(write_npz(tool / "[in, 1].npz", {{"attention_mask", inputs.at("attention_mask")}}));
  expect_error(tool.run({"run", model.path(), "--text", "a b", "--inputs", tool / "[in, 1].npz"}), 2,
               "'attention_mask' is given twice, by --text and by --inputs");
}

TEST(Inputs, GiveTheirShapesToEveryModelCommand) {
  Tool tool;
  const std::string inputs = bert_tiny() + "/inputs.npz";
  tool.folder().write("recipe.json", R"({"version":1})");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run"},
        {"bench", "--runs", "1"},
        {"verify"},
        {"profile"},
        {"inspect", "--graph"},
        {"explain"},
        {"build", "--recipe", tool / "recipe.json", "--out", tool / "[plan].rung"},
        {"climb", "--budget", "1s", "--out", tool / "[out, 1]"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {bert_tiny(), "--inputs", inputs, "--json"});
    Ran ran = tool.run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << command[0] << ": " << ran.err;
    EXPECT_FALSE(Json::parse(ran.out, nullptr, false).is_discarded()) << command[0] << ": " << ran.out;
  }
  EXPECT_TRUE(std::filesystem::exists(tool / "[out, 1]/plan.rung"));
  Json plan = Json::parse(tool.run({"inspect", tool / "[plan].rung", "--json"}).out);
  EXPECT_EQ(plan["inputs"][0]["type"], "i64[1,9]");
}

TEST(Inputs, GiveTheirShapesToPredictions) {
  if (auto verdict = gpu::has_kernels_for(0x942); !verdict) GTEST_SKIP() << verdict.reason;
  Tool tool;
  Ran ran = tool.run({"predict", "--gpu", "mi300x", bert_tiny(), "--inputs", bert_tiny() + "/inputs.npz", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("i64[1,9]"));
}

TEST(PredictCommand, SaysThatNothingIsMeasured) {
  if (auto verdict = gpu::has_kernels_for(0x942); !verdict) GTEST_SKIP() << verdict.reason;
  Tool tool;
  Ran ran = tool.run({"predict", "--gpu", "mi300x", bert_tiny(), "--shape", kShape});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("AMD Instinct MI300X"));
  EXPECT_THAT(ran.out, HasSubstr("predicted, not measured: "));
}

TEST(PredictCommand, NamesEveryCardInItsOption) {
  Tool tool;
  const Ran ran = tool.run({"predict", "--help"});
  for (const gpu::Card& card : gpu::cards()) EXPECT_THAT(ran.out, HasSubstr(std::string(card.word))) << card.name;
}

TEST(ModelArgument, NamesWhatEveryImporterTakes) {
  Tool tool;
  for (const char* command : {"inspect", "compare"}) {
    const Ran ran = tool.run({command, "--help"});
    for (const std::string_view kind : importable_kinds())
      EXPECT_THAT(ran.out, HasSubstr(std::string(kind))) << command;
    EXPECT_THAT(ran.out, HasSubstr("or a .rung plan")) << command;
  }
}

TEST(PredictCommand, WantsADirectory) {
  Tool tool;
  tool.folder().write("recipe.json", R"({"version":1})");
  ASSERT_EQ(tool.run({"build", bert_tiny(), "--recipe", tool / "recipe.json", "--out", tool / "plan.rung"}).exit_code,
            0);
  expect_error(tool.run({"predict", tool / "plan.rung", "--gpu", "mi300x"}), 2, "is a plan: predict needs a model");
}

TEST(Observed, LabelsAreTakenAsTheyStand) {
  Tool tool;
  expect_error(tool.run({"inspect", bert_tiny(), "--observe", "[no, label]"}), 1, "'[no'");
}

TEST(OptionsCommand, WritesWhatTheDocumentationHolds) {
  Tool tool;
  Ran ran = tool.run({"options"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, *read_text_file(RUNG_DOCS "/options.md")) << "write it again: rung options > docs/options.md";
}

// Whoever sets RUNG_BUDGET for climbs, or RUNG_DATABASE for all, can still build without --retune.
TEST(BuildCommand, WantsRetuneForFlagsNotForVariables) {
  Tool tool;
  const std::vector<std::string> build{"build", bert_tiny(), "--shape", kShape, "--out", tool / "plan.rung"};
  for (const auto& [flag, variable, value] :
       {std::tuple{"--budget", "RUNG_BUDGET", "2s"}, std::tuple{"--database", "RUNG_DATABASE", "tuning.json"}}) {
    auto flagged = build;
    flagged.insert(flagged.end(), {flag, value});
    expect_error(tool.run(flagged), 2, "--retune");
    setenv(variable, value, 1);
    const Ran ran = tool.run(build);
    unsetenv(variable);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }
}

TEST(InspectCommand, GivesTheGraphsTextInItsObject) {
  Tool tool;
  Ran text = tool.run({"inspect", bert_tiny(), "--graph"}),
      json = tool.run({"inspect", bert_tiny(), "--graph", "--json"});
  EXPECT_THAT(text.out, HasSubstr("input_ids: i64["));
  EXPECT_EQ(Json::parse(json.out)["graph"], text.out);
}

}  // namespace
}  // namespace rung

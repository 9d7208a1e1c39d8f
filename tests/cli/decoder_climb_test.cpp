// Climbs of language models, as a person runs them: at a mix of work, and of models with an encoder.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "import/npz.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

std::string checkpoint(const std::string& name) { return std::string(RUNG_TEST_DATA) + "/checkpoints/" + name; }

class DecoderClimb : public ::testing::Test {
 protected:
  Ran climb(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> all{"climb", checkpoint(name), "--threads", "1", "--budget", "2s", "--out", tool / "out"};
    all.insert(all.end(), more.begin(), more.end());
    return tool.run(all);
  }
  Json json_of(const Ran& ran) {
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.exit_code == 0 ? Json::parse(ran.out) : Json();
  }
  Tool tool;
};

TEST_F(DecoderClimb, AtAMixTellsBothPhases) {
  const Json json = json_of(climb("llama", {"--prompt", "8", "--new", "5", "--json"}));
  const Json& mix = json["mix"];
  EXPECT_EQ(mix["prompt"], 8);
  EXPECT_EQ(mix["new"], 5);
  ASSERT_EQ(json["plans"].size(), 2u);
  EXPECT_EQ(json["plans"][1]["text_before"], 10);
  for (const Json& plan : json["plans"]) EXPECT_EQ(plan["verified"], true) << plan["verify_reason"];
  EXPECT_EQ(mix["prefill_ms"], json["plans"][0]["final_ms"]);
  EXPECT_EQ(mix["decode_ms"], json["plans"][1]["final_ms"]);
  EXPECT_EQ(mix["decode_floor_ms"], json["plans"][1]["floor_ms"]);
  const double total = mix["prefill_ms"].get<double>() + 4 * mix["decode_ms"].get<double>();
  EXPECT_NEAR(mix["total_ms"], total, 1e-9);
  EXPECT_THAT(json["plans"][1]["cheaper"]["command"], HasSubstr("--prompt 8 --new 5 --cache 13"));

  expect_error(tool.run({"climb", tool / "out/plan.rung", "--prompt", "8", "--new", "5", "--out", tool / "out"}), 2,
               "is already a plan: climb a model directory");
  const Ran made = tool.run(
      {"generate", tool / "out/plan.rung", "--inputs", checkpoint("llama") + "/inputs.npz", "--new", "1", "--json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
}

TEST_F(DecoderClimb, AtAMixSaysItInWords) {
  const Ran ran = climb("mistral", {"--prompt", "8", "--new", "9"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("timed and verified behind 12 tokens of a text"));
  EXPECT_THAT(ran.out, HasSubstr("prompt of 8 tokens: "));
  EXPECT_THAT(ran.out, HasSubstr("; each further token, behind 12: "));
}

TEST_F(DecoderClimb, RefusesMixesThatNoTextHas) {
  expect_error(climb("llama", {"--prompt", "0", "--new", "5"}), 2, "--prompt: got 0, wanted at least 2 tokens");
  expect_error(climb("llama", {"--prompt", "-8", "--new", "5"}), 2, "--prompt: got -8, wanted at least 2 tokens");
  expect_error(climb("llama", {"--prompt", "8", "--new", "5", "--cache", "9"}), 2, "got --cache 9, wanted at least 13");
  expect_error(climb("vit", {"--prompt", "8", "--new", "5"}), 2, "is no decoder language model");
  expect_error(climb("llama", {"--prompt", "8"}), 2, "--new");
}

// The chunk fills the cache: each run begins a text of its own.
TEST_F(DecoderClimb, OfAChunkThatFillsTheCache) {
  const Json json = json_of(climb("llama", {"--shape", "input_ids=1,8", "--cache", "8", "--json"}));
  EXPECT_EQ(json["verified"], true);
}

TEST_F(DecoderClimb, OfAnEncoderDecoderMakesAllItsPlans) {
  const Json json = json_of(climb("t5", {"--cache", "16", "--shape", "input_ids=1,12", "--shape",
                                         "decoder_input_ids=1,1", "--shape", "decoder_input_ids=1,4", "--json"}));
  ASSERT_EQ(json["plans"].size(), 3u);
  for (const Json& plan : json["plans"]) EXPECT_EQ(plan["verified"], true) << plan["verify_reason"];
  EXPECT_TRUE(std::filesystem::exists(tool / "out/encoder/report.html"));
  EXPECT_THAT(json["plans"][2]["cheaper"]["command"],
              HasSubstr("--shape decoder_input_ids=1,1 --shape decoder_input_ids=1,4 --cache 16"))
      << "it repeats the whole command";
  auto inputs = read_npz(checkpoint("t5") + "/source.npz");
  ASSERT_TRUE(inputs) << inputs.error().message;
  inputs->emplace("decoder_input_ids", Tensor::of<int64_t>({1, 1}, {0}));
  ASSERT_TRUE(write_npz(tool / "source.npz", *inputs));
  const auto tokens = [&](const std::string& model) {
    return json_of(tool.run({"generate", model, "--inputs", tool / "source.npz", "--new", "6", "--json"}))["tokens"];
  };
  EXPECT_EQ(tokens(tool / "out/plan.rung"), tokens(checkpoint("t5")));
}

}  // namespace
}  // namespace rung

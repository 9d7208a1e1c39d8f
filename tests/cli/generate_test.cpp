// rung generate, as a person runs it: its options reach what they name, and its texts are those of its plans.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "cli/tool.hpp"
#include "import/npz.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

const std::string kLlama = std::string(RUNG_TEST_DATA) + "/checkpoints/llama", kPrompt = kLlama + "/inputs.npz";

const Json kGreedy{11, 10, 16, 10, 16, 10, 16, 16, 16};  // the published library's

class GenerateCommand : public ::testing::Test {
 protected:
  // Runs it on the prompt of the checkpoint.
  Ran generate(const std::vector<std::string>& options) {
    std::vector<std::string> all{"generate", kLlama, "--inputs", kPrompt, "--new", "9"};
    all.insert(all.end(), options.begin(), options.end());
    return tool.run(all);
  }
  Json made(const Ran& ran) {
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    return ran.exit_code == 0 ? Json::parse(ran.out) : Json();
  }
  Tool tool;
};

TEST_F(GenerateCommand, TellsTokensAndTheirTimes) {
  const Json json = made(generate(
      {"--json", "--threads", "1", "--device", "cpu", "--dtype", "f32", "--cache", "30", "--temperature", "0"}));
  EXPECT_EQ(json["tokens"], kGreedy);
  EXPECT_EQ(json["prompt_tokens"], 12);
  EXPECT_EQ(json["stopped_by"], "count");
  EXPECT_TRUE(json["text"].is_null());
  EXPECT_GT(json["prefill_ms"], 0);
  EXPECT_GT(json["decode_ms"]["median"], 0);
  EXPECT_GE(json["decode_ms"]["p99"], json["decode_ms"]["median"]);
  EXPECT_GT(json["tokens_per_s"], 0);
  EXPECT_GT(json["bytes_per_token"], 0);
  EXPECT_GT(json["weight_bytes"], 0);
  EXPECT_GT(json["floor_ms"], 0);
}

TEST_F(GenerateCommand, TakesTokensOf32Bits) {
  const NamedTensors prompt = *read_npz(kPrompt);
  ASSERT_TRUE(write_npz(tool / "i32.npz", {{"input_ids", convert(prompt.at("input_ids"), DType::i32)}}));
  const Json json = made(tool.run({"generate", kLlama, "--inputs", tool / "i32.npz", "--new", "9", "--json",
                                   "--threads", "1", "--dtype", "f32", "--cache", "30", "--temperature", "0"}));
  EXPECT_EQ(json["tokens"], kGreedy);
}

TEST_F(GenerateCommand, RunsAPlanOfSeveralChunks) {
  const std::string plan = tool / "chunks.rung";
  const Ran built = tool.run({"build", kLlama, "--cache", "32", "--shape", "input_ids=1,1", "--shape", "input_ids=1,8",
                              "--threads", "1", "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran ran = tool.run({"generate", plan, "--inputs", kPrompt, "--new", "9", "--trust-code", "--json"});
  EXPECT_EQ(made(ran)["tokens"], kGreedy);
  expect_error(tool.run({"generate", plan, "--inputs", kPrompt, "--cache", "9"}), 2,
               "cache and --scored-chunk were fixed when");
}

// The caches of keys and of values of two layers have rows of 16 numbers, of 4 bytes or of one.
TEST_F(GenerateCommand, KeepsCachesAsARecipeSays) {
  const std::string recipe = tool / "narrow.json", plan = tool / "narrow.rung";
  tool.folder().write("narrow.json", R"({"version": 1, "rungs": ["attention", "precision"],
                    "precision": [{"labels": "*", "cache": "f8e4m3fn"}]})");
  const auto bytes = [&](const std::string& tokens, const std::vector<std::string>& options) {
    std::vector<std::string> all{"generate", kLlama, "--inputs", kPrompt, "--new", tokens, "--json"};
    all.insert(all.end(), options.begin(), options.end());
    return made(tool.run(all))["bytes_per_token"].get<double>();
  };
  const std::vector<std::string> by_recipe{"--recipe", recipe};
  EXPECT_EQ(bytes("19", {}) - bytes("9", {}), 10 * 2 * 2 * 16 * 4) << "behind 10 tokens more";
  EXPECT_EQ(bytes("19", by_recipe) - bytes("9", by_recipe), 10 * 2 * 2 * 16);
  const Ran built = tool.run({"build", kLlama, "--cache", "21", "--shape", "input_ids=1,1", "--shape", "input_ids=1,8",
                              "--threads", "1", "--recipe", recipe, "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran ran = tool.run({"generate", plan, "--inputs", kPrompt, "--new", "9", "--temperature", "0", "--json"});
  EXPECT_EQ(made(ran)["tokens"], made(generate({"--json", "--temperature", "0", "--recipe", recipe}))["tokens"]);
  expect_error(tool.run({"generate", plan, "--inputs", kPrompt, "--recipe", recipe}), 2,
               "is a plan, which has its own recipe");
  const Json step = made(tool.run({"inspect", plan, "--shape", "input_ids=1,1", "--json"}));
  EXPECT_EQ(step["states"].size(), 5u);
  for (const Json& state : step["states"]) {
    if (state["name"] == "position") continue;
    EXPECT_THAT(state["type"].get<std::string>(), HasSubstr("f8e4m3fn"));
  }
}

// The file has a plan for each size of a chunk, and the encoder's.
TEST_F(GenerateCommand, RunsAPlanWithAnEncoder) {
  const std::string t5 = std::string(RUNG_TEST_DATA) + "/checkpoints/t5", plan = tool / "t5.rung";
  const Ran built = tool.run({"build", t5, "--cache", "16", "--shape", "input_ids=1,12", "--shape",
                              "decoder_input_ids=1,1", "--shape", "decoder_input_ids=1,4", "--out", plan, "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(Json::parse(built.out)["serves"],
            "count=1 decoder_input_ids=1,1; count=1 decoder_input_ids=1,4; count=1 input_ids=1,12");
  // generation_config.json, which a plan keeps, does not say how the text begins.
  auto inputs = read_npz(t5 + "/source.npz");
  ASSERT_TRUE(inputs) << inputs.error().message;
  inputs->emplace("decoder_input_ids", Tensor::of<int64_t>({1, 1}, {0}));
  ASSERT_TRUE(write_npz(tool / "source.npz", *inputs));
  const auto tokens = [&](const std::string& model, const std::string& source) {
    return made(tool.run({"generate", model, "--inputs", source, "--new", "6", "--json"}))["tokens"];
  };
  EXPECT_EQ(tokens(plan, tool / "source.npz"), tokens(t5, t5 + "/source.npz"));
}

TEST_F(GenerateCommand, DrawsAsItIsAsked) {
  const auto tokens = [&](const Ran& ran) { return made(ran)["tokens"]; };
  const Json drawn = tokens(generate({"--json", "--temperature", "3", "--top-k", "0", "--seed", "5"}));
  EXPECT_NE(drawn, kGreedy);
  EXPECT_EQ(drawn, tokens(generate({"--json", "--temperature", "3", "--top-k", "0", "--seed", "5", "--top-p", "1"})));
  EXPECT_NE(drawn, tokens(generate({"--json", "--temperature", "3", "--top-k", "0", "--seed", "6"})));
  EXPECT_NE(drawn, tokens(generate({"--json", "--temperature", "3", "--top-k", "0", "--seed", "5",
                                    "--repetition-penalty", "1000"})));
  EXPECT_EQ(kGreedy, tokens(generate({"--json", "--temperature", "3", "--top-p", "0"})));
  EXPECT_EQ(kGreedy, tokens(generate({"--json", "--temperature", "3", "--top-k", "1"})));
  EXPECT_EQ(kGreedy, tokens(generate({"--json", "--temperature", "3", "--min-p", "1"})));
  EXPECT_EQ(kGreedy, tokens(generate({"--json", "--temperature", "0"})));
}

TEST_F(GenerateCommand, SpeculatesOnRequest) {
  for (const char* when : {"off", "on", "auto"}) {
    const Json json = made(generate({"--json", "--cache", "30", "--temperature", "0", "--speculate", when}));
    EXPECT_EQ(json["tokens"], kGreedy) << when;
    if (when != std::string("auto")) {
      EXPECT_EQ(json["drafted"] > 0, when == std::string("on")) << json;
    }
  }
  expect_error(generate({"--speculate=yes"}), 2, "--speculate");
  expect_error(generate({"--steps", "65"}), 2, "--steps");
  EXPECT_EQ(kGreedy, made(generate({"--json", "--temperature", "0", "--steps", "4"}))["tokens"]);
  expect_error(generate({"--speculate=on", "--scored-chunk=1"}), 2, "the scores of one token a run");
}

TEST_F(GenerateCommand, SpeculatesWithAPlanThatGivesAllScores) {
  const std::string plan = tool / "plan.rung";
  const auto build = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"build",         kLlama,    "--cache",       "30",    "--shape",
                                 "input_ids=1,1", "--shape", "input_ids=1,8", "--out", plan};
    all.insert(all.end(), options.begin(), options.end());
    EXPECT_EQ(tool.run(all).exit_code, 0);
  };
  const std::vector<std::string> generate{"generate",      plan, "--inputs",    kPrompt, "--new", "9",
                                          "--temperature", "0",  "--speculate", "on"};
  build({});
  expect_error(tool.run(generate), 2, "--scored-chunk");
  build({"--scored-chunk", "8"});
  const auto with = [&](const std::string& more) {
    std::vector<std::string> all = generate;
    all.push_back(more);
    return tool.run(all);
  };
  const Json json = made(with("--json"));
  EXPECT_EQ(json["tokens"], kGreedy);
  EXPECT_GT(json["accepted"], 0);
  expect_error(with("--scored-chunk=8"), 2, "scored-chunk were fixed");
}

TEST_F(GenerateCommand, TakesADraftsGuesses) {
  const auto with_draft = [&](const std::string& draft, const std::vector<std::string>& more) {
    std::vector<std::string> all{"--json", "--cache", "30", "--temperature", "0", "--draft", draft};
    all.insert(all.end(), more.begin(), more.end());
    return made(generate(all));
  };
  const Json alone = made(generate({"--json", "--cache", "30", "--temperature", "0"}));
  EXPECT_EQ(alone["drafting"], "off");
  const Json json = with_draft(kLlama, {"--speculate", "on", "--draft-tokens", "3"});
  EXPECT_EQ(json["tokens"], kGreedy);
  EXPECT_EQ(json["drafting"], "kept");
  EXPECT_EQ(json["drafted"], 6) << "of two runs, which make all eight further tokens";
  EXPECT_EQ(json["accepted"], 6);
  EXPECT_GT(json["weight_bytes"], alone["weight_bytes"]);
  const Json by_itself = with_draft(kLlama, {});
  EXPECT_EQ(by_itself["tokens"], kGreedy);
  EXPECT_GT(by_itself["drafted"], 0) << "auto";
  const std::string plan = tool / "draft.rung";
  ASSERT_EQ(tool.run({"build", kLlama, "--cache", "24", "--shape", "input_ids=1,1", "--out", plan}).exit_code, 0);
  EXPECT_EQ(with_draft(plan, {"--speculate", "on", "--dtype", "f32"})["accepted"], 6);
}

TEST_F(GenerateCommand, RefusesDraftsThatItCannotUse) {
  const std::string t5 = std::string(RUNG_TEST_DATA) + "/checkpoints/t5", plan = tool / "t5.rung";
  expect_error(generate({"--draft", t5}), 1, "has an encoder");
  const Ran built = tool.run(
      {"build", t5, "--cache", "16", "--shape", "input_ids=1,12", "--shape", "decoder_input_ids=1,1", "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  expect_error(generate({"--draft", plan}), 1, "has an encoder");
  expect_error(generate({"--draft", tool / "nothing"}), 1, "nothing");
  expect_error(generate({"--draft", kLlama, "--draft-tokens", "8"}), 2, "wanted 1 to 7");
  expect_error(generate({"--draft", kLlama, "--draft-tokens", "0"}), 2, "--draft-tokens");
  expect_error(generate({"--draft-tokens", "3"}), 2, "--draft");
}

class TimestampsCommand : public GenerateCommand {
 protected:
  Ran generate(const std::vector<std::string>& options) {
    const std::string whisper = std::string(RUNG_TEST_DATA) + "/checkpoints/whisper";
    std::vector<std::string> all{"generate", folder.path(), "--inputs", whisper + "/source.npz", "--temperature", "0"};
    all.insert(all.end(), options.begin(), options.end());
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(whisper + "/" + name, folder.path(), std::filesystem::copy_options::skip_existing);
    return tool.run(all);
  }
  TemporaryDirectory folder;
};

TEST_F(TimestampsCommand, PrintsEachPartWithItsTimes) {
  folder.write("generation_config.json",
               R"({"decoder_start_token_id": 1, "eos_token_id": 15, "no_timestamps_token_id": 19,
                   "begin_suppress_tokens": [7]})");
  const std::vector<std::string> options{"--timestamps", "--new", "12", "--repetition-penalty", "6"};
  const Json got = made(generate({"--timestamps", "--new", "12", "--repetition-penalty", "6", "--json"}));
  ASSERT_GE(got["segments"].size(), 1u);
  const Json& first = got["segments"][0];
  EXPECT_DOUBLE_EQ(first["begin"].get<double>(), (got["tokens"][0].get<int>() - 20) / 50.0);
  EXPECT_EQ(first["text"], nullptr) << "it has no tokenizer";
  const Ran ran = generate(options);
  EXPECT_THAT(ran.out, ::testing::StartsWith(fmt::format("{:.2f} ", first["begin"].get<double>())));
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), static_cast<int>(got["segments"].size()));
}

TEST_F(TimestampsCommand, RefusesAModelWithoutTimes) {
  folder.write("generation_config.json",
               R"({"decoder_start_token_id": 1, "eos_token_id": 15, "begin_suppress_tokens": [7]})");
  expect_error(generate({"--timestamps", "--new", "9"}), 1, "the model's files have no no_timestamps_token_id");
}

class ActionsCommand : public GenerateCommand {
 protected:
  // Runs a Pi0-FAST policy, whose vocabulary the tokens of actions fill.
  Ran generate(const std::vector<std::string>& options) {
    const std::string policy = std::string(RUNG_TEST_DATA) + "/pi0_fast_tiny";
    std::vector<std::string> all{"generate", policy, "--inputs", policy + "/inputs.npz", "--temperature", "0"};
    all.insert(all.end(), options.begin(), options.end());
    return tool.run(all);
  }
  const std::string letters = std::string(RUNG_TEST_DATA) + "/actions/letters";
};

TEST_F(ActionsCommand, GivesTheActionsOfTokens) {
  const Json wanted = (*read_json_file(letters + "/cases.json"))[0]["decoded"];
  const Json got = made(generate({"--new", "16", "--actions", letters, "--skip-tokens", "0", "--json"}))["actions"];
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t time = 0; time < 4; ++time)
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[time][i], wanted[time][i], 1e-12);
  const Ran ran = generate({"--new", "16", "--actions", letters, "--skip-tokens", "0", "--action-shape", "4,4"});
  EXPECT_THAT(ran.out, ::testing::StartsWith("0.25952571107"));
  EXPECT_FALSE(made(generate({"--new", "16", "--json"})).contains("actions"));
}

TEST_F(ActionsCommand, RefusesTokensThatAreNoChunk) {
  expect_error(generate({"--new", "15", "--actions", letters, "--skip-tokens", "0"}), 1,
               "got 15 coefficients, wanted 4 x 4");
  expect_error(generate({"--new", "16", "--actions", letters}), 1, "has no room for 128 action tokens");
  expect_error(generate({"--actions", letters, "--action-shape", "4"}), 2,
               "--action-shape: got '4', wanted TIMES,VALUES");
  expect_error(generate({"--actions", letters, "--action-shape", "4,5"}), 1, "action_dim of actions: got 5, and");
  expect_error(generate({"--actions", tool / "nothing"}), 1, "processor_config.json");
  expect_error(generate({"--skip-tokens", "0"}), 2, "--actions");
}

TEST_F(GenerateCommand, RefusesWhatItCannotUse) {
  expect_error(generate({"--top-p=3"}), 2, "top_p: got 3");
  expect_error(generate({"--observe=nothing"}), 1, "no value of the model is labelled 'nothing'");
  expect_error(generate({"--freeze=nothing"}), 2, "--freeze nothing");
  expect_error(generate({"--shape=nothing=1"}), 2, "a shape for input 'nothing'");
  expect_error(generate({"--stop=a"}), 1, "no tokenizer");
  expect_error(generate({"--log=6"}), 2, "--log");
  expect_error(generate({"--cache=99"}), 2, "wanted 1 to 32");
  expect_error(generate({"--text=a"}), 2, "got 2 prompts");
  expect_error(generate({"--chat=[]"}), 2, "got 2 prompts");
  const std::string folder = tool / "model";
  std::filesystem::create_directory(folder);
  std::filesystem::copy(kLlama + "/config.json", folder);
  expect_error(tool.run({"generate", folder, "--inputs", kPrompt, "--new", "3"}), 1, "*.safetensors");
  EXPECT_EQ(tool.run({"generate", folder, "--inputs", kPrompt, "--new", "3", "--random-weights", "1"}).exit_code, 0);
  expect_error(
      tool.run({"generate", folder, "--inputs", kPrompt, "--new", "3", "--random-weights", "1", "--drop-head"}), 1,
      "logits");
}

}  // namespace
}  // namespace rung

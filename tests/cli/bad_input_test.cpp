// Inputs, flags and output folders that cannot be used: one clear error each, nothing half-written.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "import/npz.hpp"
#include "support/file_size_limit.hpp"
#include "support/graphs.hpp"
#include "support/pace.hpp"
#include "tool.hpp"

namespace rung {
namespace {

class BadInputs : public testing::Test {
 protected:
  Tool tool;
  NamedTensors inputs = *read_npz(bert_tiny() + "/inputs.npz");

  void expect_refused(const std::string& message) {
    ASSERT_TRUE(write_npz(tool / "in.npz", inputs));
    expect_error(tool.run({"run", bert_tiny(), "--inputs", tool / "in.npz", "--outputs", tool / "out.npz"}), 1,
                 message);
    EXPECT_FALSE(std::filesystem::exists(tool / "out.npz"));
    expect_error(
        tool.run({"climb", bert_tiny(), "--inputs", tool / "in.npz", "--budget", budget(2), "--out", tool / "out"}), 1,
        message);
    EXPECT_TRUE(is_empty(tool / "out"));
  }
};

TEST_F(BadInputs, OfUnknownNames) {
  inputs["idz"] = inputs.at("input_ids");
  expect_refused("'idz'");
}

TEST_F(BadInputs, OfShapesThatDoNotGoTogether) {
  inputs["attention_mask"] = Tensor({DType::i64, {1, 5}});
  expect_refused("input 'attention_mask': got i64[1,5], wanted i64[1,9]");
}

TEST_F(BadInputs, OfAnotherShapeThanAskedFor) {
  for (const char* shape : {"input_ids=1,8", "attention_mask=1,128"})
    expect_error(tool.run({"run", bert_tiny(), "--shape", shape, "--inputs", bert_tiny() + "/inputs.npz"}), 2,
                 fmt::format("--shape {}: --inputs gives '", shape));
}

TEST_F(BadInputs, OfAnotherType) {
  inputs["input_ids"] = convert(inputs.at("input_ids"), DType::f32);
  expect_refused("input 'input_ids': got f32");
}

TEST_F(BadInputs, OutOfRange) {
  inputs["input_ids"] = convert(inputs.at("input_ids"), DType::i64);
  inputs["input_ids"].as<int64_t>()[0] = 64;
  expect_refused("64, wanted ");
}

TEST_F(BadInputs, ThatAreNoNpzFile) {
  std::string path = tool.folder().write("bad.npz", "not a zip archive");
  expect_error(tool.run({"run", bert_tiny(), "--inputs", path}), 1, path);
  expect_error(tool.run({"run", bert_tiny(), "--inputs", tool / "none.npz"}), 1, tool / "none.npz");
}

TEST(BadFloatInputs, AreNamedWithNansAndInfinitiesCounted) {
  Tool tool;
  std::string policy = std::string(RUNG_TEST_DATA) + "/pi0_tiny";
  NamedTensors inputs = *read_npz(policy + "/inputs.npz");
  Tensor state = convert(convert(inputs.at("state"), DType::bf16), DType::f32);
  state.as<float>()[0] = NAN;
  state.as<float>()[1] = state.as<float>()[2] = INFINITY;
  inputs["state"] = state;
  ASSERT_TRUE(write_npz(tool / "in.npz", inputs));
  for (const auto& command : {"run", "bench", "climb"}) {
    expect_error(tool.run({command, policy, "--dtype", "f32", "--inputs", tool / "in.npz"}), 1,
                 "input 'state' f32[4]: got 1 NaN and 2 infinite values");
  }
}

struct WrongUsage {
  std::vector<std::string> arguments;
  std::string message;
};
class Usage : public testing::TestWithParam<WrongUsage> {};

TEST_P(Usage, ExitsWithTwoAndOneLine) {
  Tool tool;
  expect_error(tool.run(GetParam().arguments), 2, GetParam().message);
}

TEST_P(Usage, UnderJsonIsOneObjectToo) {
  Tool tool;
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.push_back("--json");
  Ran ran = tool.run(arguments);
  EXPECT_EQ(ran.exit_code, 2);
  auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1);
  EXPECT_EQ(json["error"]["kind"], "usage");
  EXPECT_EQ("rung: error: " + json["error"]["message"].get<std::string>() + "\n", error_line(ran));
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, Usage,
    testing::Values(WrongUsage{{}, "got no command, wanted one of: climb, "},
                    WrongUsage{{"fly"}, "got command 'fly', wanted one of: climb, "}, WrongUsage{{"climb"}, "MODEL"},
                    WrongUsage{{"compare", "a", "b", "--runs", "3"}, "got '--runs 3', which compare does not take"},
                    WrongUsage{{"generate", "a", "--speculate", "maybe"},
                               "--speculate: got 'maybe', wanted one of off, on, auto"},
                    WrongUsage{{"--fly"}, "got option '--fly' before a command, wanted one of: climb, "},
                    WrongUsage{{"--device", "cpu", "run", bert_tiny()}, "got option '--device' before a command"},
                    WrongUsage{{"climb", bert_tiny(), "--sped"}, "--sped"},
                    WrongUsage{{"climb", bert_tiny(), "--budget", "fast"}, "--budget: got 'fast'"},
                    WrongUsage{{"climb", bert_tiny(), "--budget", "-3s"}, "--budget: got '-3s'"},
                    WrongUsage{{"climb", bert_tiny(), "--budget", "nan"}, "--budget: got 'nan'"},
                    WrongUsage{{"climb", bert_tiny(), "--budget", "999ms"}, "got '999ms', wanted at least 1s"},
                    WrongUsage{{"climb", bert_tiny(), "--skip", "fusoin"}, "no rung 'fusoin'"},
                    WrongUsage{{"run", bert_tiny(), "--threads", "many"}, "--threads"},
                    WrongUsage{{"run", bert_tiny(), "--dtype", "f8"}, "--dtype"},
                    WrongUsage{{"run", bert_tiny(), "--device", "tpu"}, "--device: got 'tpu'"},
                    WrongUsage{{"run", bert_tiny(), "--shape", "input_ids"}, "--shape: got 'input_ids'"},
                    WrongUsage{{"run", bert_tiny(), "--shape", "input_ids=1,0"}, "--shape: got 'input_ids=1,0'"},
                    WrongUsage{{"run", bert_tiny(), "--shape", "input_ids=1,9,"}, "--shape: got 'input_ids=1,9,'"},
                    WrongUsage{{"run", bert_tiny(), "--shape", "input_ids=1,8", "--shape", "input_ids=1,9"},
                               "--shape: got 2 shapes of one input, wanted one: only 'rung climb' and 'rung build'"},
                    WrongUsage{{"run", bert_tiny(), "--freeze", "attention_mask"}, "--freeze attention_mask"},
                    WrongUsage{{"build", bert_tiny(), "--budget", "3s"}, "--retune"},
                    WrongUsage{{"verify", bert_tiny(), "--reference", ""}, "--reference: got an empty value"},
                    WrongUsage{{"run", bert_tiny(), "--recipe", ""}, "--recipe: got an empty value, wanted FILE.json"},
                    WrongUsage{{"build", bert_tiny(), "--out", "p", "--recipe", ""}, "--recipe: got an empty value"},
                    WrongUsage{{"compare", "a", "b", "--max-slowdown", "-1%"}, "got '-1%', wanted 0.1% to 10000%"},
                    WrongUsage{{"compare", "a", "b", "--max-slowdown", "nan%"}, "got 'nan%', wanted 0.1% to 10000%"},
                    WrongUsage{{"predict", bert_tiny()}, "--gpu"},
                    WrongUsage{{"predict", bert_tiny(), "--gpu", "mi999"},
                               "--gpu: got 'mi999', wanted one of h100, h200, mi300x, mi325x, mi350x, mi355x"}));

// Under --json, where it also is told apart.
struct OfKind {
  int exit_code;
  std::string kind;
  std::vector<std::string> arguments;
};
class Kinds : public testing::TestWithParam<OfKind> {};

TEST_P(Kinds, AreToldUnderJson) {
  Tool tool;
  tool.folder().write("recipe.json", R"({"version":1,"threads":1})");
  tool.folder().write("damaged.json", "{");
  ASSERT_EQ(tool.run({"build", bert_tiny(), "--recipe", tool / "recipe.json", "--out", tool / "plan.rung"}).exit_code,
            0);
  ASSERT_TRUE(write_npz(tool / "wrong.npz", {{"input_ids", Tensor({DType::f32, {1, 9}})}}));
  std::vector<std::string> arguments;
  for (const std::string& word : GetParam().arguments)
    arguments.push_back(word[0] == '@' ? tool / word.substr(1) : word);
  arguments.push_back("--json");
  Ran ran = tool.run(arguments);
  EXPECT_EQ(ran.exit_code, GetParam().exit_code) << ran.err;
  auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json["error"]["kind"], GetParam().kind) << ran.err;
}

INSTANTIATE_TEST_SUITE_P(
    OfErrors, Kinds,
    testing::Values(OfKind{1, "file", {"run", "/nowhere"}}, OfKind{1, "file", {"run", "@none.rung"}},
                    OfKind{1, "file", {"build", bert_tiny(), "--recipe", "@damaged.json"}},
                    OfKind{1, "file", {"run", bert_tiny(), "--inputs", "@none.npz"}},
                    OfKind{1, "mismatch", {"run", bert_tiny(), "--inputs", "@wrong.npz"}},
                    OfKind{1, "mismatch", {"run", "@plan.rung", "--device", "cuda"}},
                    OfKind{1, "device", {"run", bert_tiny(), "--device", "cuda:999"}},
                    // Flags that do not fit the model or plan beside them are the command line's mistakes.
                    OfKind{2, "usage", {"run", "@plan.rung", "--threads", "2"}},
                    OfKind{2, "usage", {"run", "@plan.rung", "--shape", "input_ids=1,9"}},
                    OfKind{2, "usage", {"run", bert_tiny(), "--shape", "idz=1,9"}},
                    OfKind{2, "usage", {"run", bert_tiny(), "--shape", "input_ids=1,5000"}}));

class BadOutputs : public testing::Test {
 protected:
  Tool tool;
  std::string file = tool.folder().write("file", "kept");
  void TearDown() override { EXPECT_EQ(*read_text_file(file), "kept"); }
};

TEST_F(BadOutputs, BelowAFileAreRefusedBeforeTheWork) {
  expect_error(tool.run({"climb", bert_tiny(), "--out", file + "/out"}), 1, file + "/out");
  expect_error(tool.run({"climb", bert_tiny(), "--out", file}), 1, file);
}

TEST_F(BadOutputs, OfRunAndBuildAreNamed) {
  expect_error(tool.run({"run", bert_tiny(), "--shape", kShape, "--inputs", bert_tiny() + "/inputs.npz", "--outputs",
                         file + "/o.npz"}),
               1, file + "/o.npz");
  tool.folder().write("recipe.json", R"({"version":1})");
  expect_error(tool.run({"build", bert_tiny(), "--recipe", tool / "recipe.json", "--out", file + "/p.rung"}), 1,
               file + "/p.rung");
}

TEST_F(BadOutputs, OnAFullStandardOutputFail) {
  for (const auto& words : {std::vector<std::string>{"inspect", bert_tiny(), "--json"},
                            {"options"},
                            {"--help"},
                            {"climb", "--help"},
                            {"--version"}}) {
    Ran ran = tool.run(words, "/dev/full");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(error_line(ran), testing::HasSubstr("cannot write to standard output: No space left on device"));
  }
}

TEST_F(BadOutputs, OnAFullDiskLeaveNoFile) {
  Ran ran = [&] {
    FileSizeLimit limit(32 << 10);
    return tool.run({"climb", bert_tiny(), "--budget", budget(1), "--out", tool / "out"});
  }();
  expect_error(ran, 1, "plan.rung': writing failed: File too large");
  EXPECT_TRUE(is_empty(tool / "out"));
}

}  // namespace
}  // namespace rung

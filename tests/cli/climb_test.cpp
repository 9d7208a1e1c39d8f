// rung climb as a process: what it writes, two at once, Ctrl-C in the middle.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/pace.hpp"
#include "tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json json_of(const Ran& ran) {
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  Json json = Json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << "one object on one line";
  return json;
}

void expect_fields(const Json& json, const std::vector<const char*>& fields) {
  for (const char* field : fields) EXPECT_TRUE(json.contains(field)) << field;
}

TEST(ClimbCommand, TakesItsBudgetInAnyUnit) {
  Tool tool;
  for (const auto& [text, seconds] : {std::pair{"1.25", 1.25}, {"1.25s", 1.25}, {"1250ms", 1.25}, {"0.025m", 1.5}}) {
    const Json json =
        json_of(tool.run({"climb", bert_tiny(), "--shape", kShape, "--budget", text, "--out", tool / "out", "--json"}));
    EXPECT_DOUBLE_EQ(json["budget_s"], seconds) << text;
  }
}

TEST(ClimbCommand, PrintsItsResultAndWritesTheWholeSet) {
  Tool tool;
  Json json = json_of(tool.run({"climb", bert_tiny(), "--budget", budget(3), "--out", tool / "out", "--json"}));
  expect_fields(json, {"model", "device", "dtype", "baseline_ms", "final_ms", "speedup", "floor_ms", "kernels_before",
                       "kernels_after", "rungs", "ablation", "tuning_s"});
  ASSERT_FALSE(json["rungs"].empty());
  for (const Json& rung : json["rungs"]) {
    expect_fields(rung, {"name", "accepted", "reason", "ms", "ci95", "ratio", "kernels", "rel_l2", "max_abs"});
    EXPECT_EQ(rung["ci95"].size(), 2u);
  }
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(tool / "out")) files.insert(file.path().filename());
  EXPECT_EQ(files, (std::set<std::string>{"plan.rung", "recipe.json", "report.html", "report.json", "report.md",
                                          "trace.json"}));
}

TEST(ClimbCommand, WritesPlanAndRecipeThatOtherCommandsTake) {
  Tool tool;
  ASSERT_EQ(tool.run({"climb", bert_tiny(), "--shape", kShape, "--budget", budget(2), "--out", tool / "out"}).exit_code,
            0);
  std::string inputs = bert_tiny() + "/inputs.npz", plan = tool / "out/plan.rung";
  Json bench = json_of(tool.run({"bench", plan, "--runs", "20", "--json"}));
  expect_fields(bench, {"median_ms", "min_ms", "p90_ms", "p99_ms", "runs", "kernels", "host_us", "device", "load_ms",
                        "first_run_ms", "peak_rss_mb"});
  EXPECT_EQ(bench["runs"], 20);
  Json verified =
      json_of(tool.run({"verify", plan, "--inputs", inputs, "--reference", bert_tiny() + "/outputs.npz", "--json"}));
  expect_fields(verified, {"passed", "outputs", "tolerance", "reason", "precision"});
  EXPECT_EQ(verified["passed"], true);
  for (const Json& output : verified["outputs"])
    expect_fields(output, {"name", "rel_l2", "max_abs", "cosine", "non_finite"});
  Json built = json_of(tool.run({"build", bert_tiny(), "--shape", kShape, "--recipe", tool / "out/recipe.json", "--out",
                                 tool / "again.rung", "--json"}));
  EXPECT_EQ(built["kernels"], bench["kernels"]);
  EXPECT_EQ(*read_text_file(tool / "again.rung"), *read_text_file(plan)) << "recipe in, the same plan out";
}

TEST(VerifyCommand, ReplaysAndComparesBits) {
  Tool tool;
  Json json = json_of(tool.run({"verify", bert_tiny(), "--shape", kShape, "--replays", "50", "--json"}));
  EXPECT_EQ(json["passed"], true) << json;
  EXPECT_EQ(json["replays"], 50);
  expect_fields(json, {"difference", "resident_growth_bytes", "device_growth_bytes"});
  EXPECT_EQ(tool.run({"verify", bert_tiny(), "--replays", "0"}).exit_code, 2);
}

TEST(ClimbCommand, SharesItsDatabaseWithAnotherClimb) {
  Tool tool;
  auto start = [&](const std::string& length) {
    return tool.start({"climb", bert_tiny(), "--shape", "input_ids=1," + length, "--budget", budget(4), "--threads",
                       "1", "--out", tool / ("out" + length)});
  };
  auto first = start("8"), second = start("16");
  Ran a = Tool::wait(first), b = Tool::wait(second);
  EXPECT_EQ(a.exit_code, 0) << a.err;
  EXPECT_EQ(b.exit_code, 0) << b.err;
  auto text = read_text_file(tool / "cache/tuning.json");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_FALSE(Json::parse(*text, nullptr, false).is_discarded());
  EXPECT_THAT(*text, HasSubstr("linear m=8 "));
  EXPECT_THAT(*text, HasSubstr("linear m=16 "));
}

// Waits until the tool's standard error holds `text`.
bool says(const Tool::Process& process, const std::string& text) {
  for (int i = 0; i < 6000 * kPace; ++i) {
    if (read_text_file(process.err).value_or("").find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ClimbCommand, InterruptedKeepsOnlyWhatItTuned) {
  Tool tool;
  auto process = tool.start({"climb", bert_tiny(), "--budget", budget(20), "--out", tool / "out"});
  EXPECT_TRUE(says(process, "rung: tune"));  // gemm, the rung before it, has tuned
  kill(process.pid, SIGINT);
  Ran ran = Tool::wait(process);
  EXPECT_EQ(ran.exit_code, 128 + SIGINT);
  EXPECT_THAT(error_line(ran), HasSubstr("interrupted"));
  EXPECT_TRUE(is_empty(tool / "out"));
  EXPECT_THAT(read_text_file(tool / "cache/tuning.json").value_or("no database"), HasSubstr("linear m="));
}

TEST(Commands, ThatLoadNoWeightsPrintOneObject) {
  Tool tool;
  expect_fields(json_of(tool.run({"inspect", bert_tiny(), "--json"})),
                {"model", "architecture", "parameters", "inputs"});
  expect_fields(json_of(tool.run({"explain", bert_tiny(), "--json"})), {"passes", "problems"});
}

}  // namespace
}  // namespace rung

// --wait-quiet, the line of a disturbed measurement, and peaks that stay.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/cores.hpp"
#include "cli/tool.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

[[noreturn]] void spin() {
  for (std::atomic<int64_t> turns{0};;) ++turns;
}

// Two loops for every processor, in processes of their own.
class BusyMachine {
 public:
  BusyMachine() {
    for (int i = 0; i < 2 * usable_cores(); ++i) {
      const pid_t child = fork();
      if (child == 0) spin();
      children_.push_back(child);
    }
  }
  ~BusyMachine() {
    for (const pid_t child : children_) kill(child, SIGKILL), waitpid(child, nullptr, 0);
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  std::vector<pid_t> children_;
};

TEST(Disturbed, BenchAndProfileSayItInOneLine) {
  Tool tool;
  const BusyMachine busy;
  for (const char* command : {"bench", "profile"}) {
    const Ran ran = tool.run({command, bert_tiny()});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, ContainsRegex("\nDISTURBED: other programs had [0-9]+ % of the processors")) << command;
    const Json json = Json::parse(tool.run({command, bert_tiny(), "--json"}).out, nullptr, false);
    EXPECT_GT(json["disturbance"]["others"], 0.05) << json.dump();
    EXPECT_THAT(json["disturbance"]["said"].get<std::string>(), HasSubstr("other programs had")) << command;
  }
}

TEST(Disturbed, CompareSaysItOfRunsAndTools) {
  Tool tool;
  const BusyMachine busy;
  const std::string page = tool.folder() / "page.md";
  for (const char* other : {"--recipe-b", "--tool-b"}) {
    const std::string b =
        other == std::string("--tool-b") ? RUNG_TOOL : tool.folder().write("b.json", R"({"version": 1})");
    const Ran ran = tool.run({"compare", bert_tiny(), other, b, "--budget", "1s", "--markdown", page});
    EXPECT_THAT(ran.out, ContainsRegex("\nDISTURBED: other programs had [0-9]+ % of the processors")) << ran.err;
    EXPECT_THAT(*read_text_file(page), HasSubstr("DISTURBED: other programs had")) << other;
    const Json json =
        Json::parse(tool.run({"compare", bert_tiny(), other, b, "--budget", "1s", "--json"}).out, nullptr, false);
    EXPECT_GT(json["disturbance"]["others"], 0.05) << json.dump();
  }
}

TEST(WaitQuiet, GoesOnWhenItsTimeIsOver) {
  Tool tool;
  const BusyMachine busy;
  const Ran ran = tool.run({"bench", bert_tiny(), "--runs", "7", "--wait-quiet", "1200ms"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, ContainsRegex("rung: the machine is not quiet after [0-9.]+ s: other programs had [0-9]+ % of"));
  EXPECT_THAT(ran.out, HasSubstr("7 runs of "));
}

TEST(WaitQuiet, IsForWhatMeasures) {
  Tool tool;
  for (const char* command : {"climb", "bench", "profile"})
    expect_error(tool.run({command, bert_tiny(), "--wait-quiet", "soon"}), 2,
                 "--wait-quiet: got 'soon', wanted a time such as 60s");
  const std::string list = tool.folder().write("list.csv", "m,n,k,dtype\n4,64,32,f32\n");
  expect_error(tool.run({"tune", list, "--wait-quiet", "-1s"}), 2, "--wait-quiet: got '-1s'");
  expect_error(tool.run({"inspect", bert_tiny(), "--wait-quiet", "1s"}), 2, "--wait-quiet");
}

TEST(WaitQuiet, EndsWithASignal) {
  Tool tool;
  const BusyMachine busy;
  const auto bench = tool.start({"bench", bert_tiny(), "--wait-quiet", "300s"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(bench.pid, SIGINT);
  EXPECT_EQ(Tool::wait(bench).exit_code, 128 + SIGINT);
}

// What a first run saw holds for the next, which a load would show less.
TEST(Peaks, AreKeptFromRunToRun) {
  Tool tool;
  ASSERT_EQ(tool.run({"profile", bert_tiny()}).exit_code, 0);
  const std::string file = tool / "cache/peaks.json";
  Json kept = Json::parse(read_text_file(file).value_or(""), nullptr, false);
  ASSERT_TRUE(kept.is_object() && kept["machines"].size() == 1) << kept.dump();
  Json& rates = kept["machines"].front();
  rates["read_gbps"] = 123456.5;
  ASSERT_TRUE(write_file_atomically(file, kept.dump()));
  EXPECT_EQ(Json::parse(tool.run({"profile", bert_tiny(), "--json"}).out)["peaks"]["read_gbps"], 123456.5);
  ASSERT_TRUE(write_file_atomically(file, "{"));
  const Ran damaged = tool.run({"bench", bert_tiny(), "--runs", "3"});
  EXPECT_EQ(damaged.exit_code, 0);
  EXPECT_THAT(damaged.err, ContainsRegex("^rung: floors are by what was measured now: .*repair or remove it\n$"));
  EXPECT_EQ(*read_text_file(file), "{");
}

}  // namespace
}  // namespace rung

// Values that options and variables cannot have: times, shapes and shares are read whole, a variable as its flag.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Times, AreReadWholeWithTheirUnit) {
  Tool tool;
  for (const char* flag : {"--budget", "--wait-quiet"})
    for (const char* text : {"0", "0s", "inf", "1h", "1 s", "s", "5mm", "60s1", " 60s", "1e999s"})
      expect_error(tool.run({"climb", bert_tiny(), flag, text}), 2,
                   fmt::format("{}: got '{}', wanted a time such as 60s or 5m", flag, text));
  for (const char* text : {"0.99", "0.99s", "0.0166m", "999.9ms"})
    expect_error(tool.run({"climb", bert_tiny(), "--budget", text}), 2, "wanted at least 1s");
}

TEST(Shapes, AreReadWhole) {
  Tool tool;
  for (const char* text : {"=1,9", "input_ids=1,x", "input_ids=1;9", "input_ids=1,,9", "input_ids=-1,9",
                           "input_ids=1.5,9", "input_ids=1,9223372036854775808", "input_ids=1,1,1,1,1,1,1,1,1"})
    expect_error(tool.run({"inspect", bert_tiny(), "--shape", text}), 2,
                 fmt::format("--shape: got '{}', wanted NAME=1,128", text));
  const Ran most = tool.run({"inspect", bert_tiny(), "--shape", "input_ids=1,1,1,1,1,1,1,1"});
  EXPECT_NE(most.exit_code, 0);
  EXPECT_THAT(error_line(most), Not(HasSubstr("wanted NAME="))) << "what is wrong with it is not its rank alone";
}

// Options of whole numbers, with their ranges.
TEST(Counts, OutOfTheirRangeAreRefused) {
  Tool tool;
  struct Counted {
    std::vector<std::string> arguments;
    std::string range;
  };
  const std::string most_i32 = "2147483647", most_i64 = "9223372036854775807", most_u64 = "18446744073709551615";
  for (const auto& [arguments, range] : {
           Counted{{"bench", bert_tiny(), "--runs"}, "1 to 1000000"},
           Counted{{"bench", bert_tiny(), "--threads"}, "0 to 1024"},
           Counted{{"bench", bert_tiny(), "--random-weights"}, "0 to " + most_u64},
           Counted{{"bench", bert_tiny(), "--log"}, "0 to 5"},
           Counted{{"bench", bert_tiny(), "--cache"}, "1 to " + most_i32},
           Counted{{"bench", bert_tiny(), "--scored-chunk"}, "1 to " + most_i32},
           Counted{{"verify", bert_tiny(), "--replays"}, "1 to 1000000000"},
           Counted{{"verify", bert_tiny(), "--seeds"}, "1 to 10000"},
           Counted{{"verify", bert_tiny(), "--seeds", "1", "--seed"}, "1 to " + most_i64},
           Counted{{"generate", bert_tiny(), "--text", "a", "--new"}, "1 to " + most_i32},
           Counted{{"generate", bert_tiny(), "--text", "a", "--steps"}, "0 to "},
           Counted{{"generate", bert_tiny(), "--text", "a", "--top-k"}, "0 to " + most_u64},
           Counted{{"generate", bert_tiny(), "--text", "a", "--seed"}, "0 to " + most_u64},
           Counted{{"generate", bert_tiny(), "--text", "a", "--actions", "d", "--skip-tokens"}, "0 to " + most_u64},
           Counted{{"climb", bert_tiny(), "--new", "1", "--prompt"}, "to " + most_i64},
           Counted{{"occupancy", "--vgprs"}, "1 to 512"},
       })
    for (const char* text : {"-1", "1.5", "99999999999999999999", "1e3", "true", "0x10", " 5", "many"}) {
      if (text == std::string("-1") && arguments[0] == "climb") continue;  // the command itself says what it wants
      std::vector<std::string> all = arguments;
      all.emplace_back(text);
      const Ran ran = tool.run(all);
      expect_error(ran, 2, fmt::format("{}: got '{}', wanted a whole number from ", arguments.back(), text));
      EXPECT_THAT(ran.err, HasSubstr(range));
    }
}

TEST(Counts, AreDecimalWhateverTheyBeginWith) {
  Tool tool;
  const Ran ran = tool.run({"verify", bert_tiny(), "--shape", "input_ids=1,7", "--seeds", "01", "--seed", "010"});
  EXPECT_THAT(ran.out, HasSubstr("1 fresh seed, from 10 on"));
}

TEST(Variables, OfInstructionSetsNameOne) {
  Tool tool;
  for (const char* level : {"nope", "AVX2", "avx2 "}) {
    setenv("RUNG_CPU_ISA", level, 1);
    for (const char* command : {"bench", "inspect", "verify"})
      expect_error(tool.run({command, bert_tiny(), "--shape", kShape}), 2,
                   fmt::format("RUNG_CPU_ISA: got '{}', wanted one of: scalar, avx2, avx512, avx512_vnni, "
                               "avx512_bf16, amx_bf16",
                               level));
  }
  for (const char* level : {"scalar", ""}) {
    setenv("RUNG_CPU_ISA", level, 1);
    EXPECT_EQ(tool.run({"bench", bert_tiny(), "--shape", kShape, "--runs", "1"}).exit_code, 0) << level;
  }
  unsetenv("RUNG_CPU_ISA");
}

// Values that only a variable's own reader refuses: every row of the table that has a variable must be here.
TEST(Variables, AreReadAsTheirFlags) {
  Tool tool;
  std::filesystem::create_directory(tool / "folder");
  struct Held {
    std::string value, said;
  };
  const std::map<std::string, Held> held{{"RUNG_DEVICE", {"tpu", "--device: got 'tpu'"}},
                                         {"RUNG_THREADS", {"2", "got --threads 2"}},
                                         {"RUNG_LOG", {"5", "graph \"bert\""}},
                                         {"RUNG_BUDGET", {"soon", "--budget: got 'soon'"}},
                                         {"RUNG_DATABASE", {tool / "folder", "folder': got a directory"}}};
  const std::string recipe = tool.folder().write("recipe.json", R"({"version":1,"threads":1})");
  for (const Json& row : Json::parse(tool.run({"options", "--json"}).out).at("options")) {
    const auto variable = row.at("environment").get<std::string>();
    if (variable.empty()) continue;
    ASSERT_TRUE(held.contains(variable)) << variable;
    setenv(variable.c_str(), held.at(variable).value.c_str(), 1);
    const bool builds = variable == "RUNG_THREADS" || variable == "RUNG_LOG";
    const Ran ran = builds ? tool.run({"build", bert_tiny(), "--recipe", recipe, "--out", tool / "plan.rung"})
                           : tool.run({"climb", bert_tiny(), "--shape", kShape, "--out", tool / "out"});
    unsetenv(variable.c_str());
    EXPECT_THAT(ran.err, HasSubstr(held.at(variable).said)) << variable;
  }
}

// A flag is nearer than a variable.
TEST(Variables, GiveWayToTheirFlags) {
  Tool tool;
  setenv("RUNG_DEVICE", "tpu", 1);
  const Ran ran = tool.run({"explain", bert_tiny(), "--shape", kShape, "--device", "cpu"});
  unsetenv("RUNG_DEVICE");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

}  // namespace
}  // namespace rung

// Options and variables that the tests of their commands have no other use for: each does what its help says.
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/tool.hpp"
#include "import/npz.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A variable of this process, and so of those that it starts, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

Json json_of(const Ran& ran) {
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  Json json = Json::parse(ran.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << ran.out;
  return json;
}

// ---- models

TEST(RandomWeights, AreMadeUpBySeed) {
  Tool tool;
  const std::string model = tool / "model";
  std::filesystem::create_directory(model);
  std::filesystem::copy(bert_tiny() + "/config.json", model + "/config.json");
  const auto outputs = [&](const char* seed) {
    const std::string file = tool / "outputs.npz";
    const Ran ran = tool.run({"run", model, "--random-weights", seed, "--inputs", bert_tiny() + "/inputs.npz",
                              "--outputs", file});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const NamedTensors read = *read_npz(file);
    const auto values = read.at("last_hidden_state").as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const auto first = outputs("1");
  EXPECT_EQ(outputs("1"), first);
  EXPECT_NE(outputs("2"), first);
  expect_error(tool.run({"run", model, "--shape", kShape}), 1, "safetensors");
}

TEST(Variables, StandForTheirOptions) {
  Tool tool;
  const auto bench = [&] { return tool.run({"bench", bert_tiny(), "--shape", kShape, "--runs", "1"}); };
  {
    const Variable threads("RUNG_THREADS", "1");
    EXPECT_THAT(bench().out, HasSubstr("on 1 threads"));
    EXPECT_THAT(tool.run({"bench", bert_tiny(), "--shape", kShape, "--runs", "1", "--threads", "2"}).out,
                HasSubstr("on 2 threads"))
        << "an option that is given comes first";
  }
  {
    const Variable log("RUNG_LOG", "3");
    EXPECT_THAT(bench().err, HasSubstr("rung: "));
  }
  EXPECT_THAT(bench().err, Not(HasSubstr("rung: ")));
  const Variable device("RUNG_DEVICE", "no-such-device");
  expect_error(bench(), 2, "no-such-device");
}

TEST(Variables, StandForTheOptionsOfTuning) {
  Tool tool;
  const std::string list = tool.folder().write("list.csv", "m,n,k,dtype\n4,64,32,f32\n");
  const Variable database("RUNG_DATABASE", tool / "mine.json");
  {
    const Variable soon("RUNG_BUDGET", "soon");
    expect_error(tool.run({"tune", list}), 2, "got 'soon'");
  }
  const Variable time("RUNG_BUDGET", budget(20));
  const Ran ran = tool.run({"tune", list, "--threads", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(read_text_file(tool / "mine.json").value_or("none"), HasSubstr("linear m=4 n=64 k=32"));
  EXPECT_FALSE(std::filesystem::exists(tool / "cache/tuning.json"));
}

TEST(Bench, AtARateStartsItsRunsApart) {
  Tool tool;
  const auto bench = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"bench", bert_tiny(), "--shape", kShape, "--runs", "20", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(json_of(tool.run(all))["runs"], 20);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  EXPECT_GE(bench({"--rate", "20"}), 0.95) << "20 runs, 50 ms from one to the next";
  expect_error(tool.run({"bench", bert_tiny(), "--rate", "-1"}), 2, "--rate");
}

// Asks for two blocks and for what is none, by a file that stands for another process's words.
TEST(Bench, ByBlocksAnswersEachLine) {
  Tool tool;
  const auto answers = [&](const std::string& words) {
    std::string script = "exec";
    for (const std::string& word : {std::string(RUNG_TOOL), std::string("bench"), bert_tiny(), std::string("--shape"),
                                    std::string(kShape), std::string("--blocks")})
      script += " '" + word + "'";
    script += " < '" + tool.folder().write("words", words) + "' > '" + (tool / "answers") + "' 2> '" +
              (tool / "errors") + "'";
    const int status = std::system(script.c_str());
    return Ran{WEXITSTATUS(status), *read_text_file(tool / "answers"), *read_text_file(tool / "errors")};
  };
  const Ran two = answers("go 5\ngo 20\n");
  EXPECT_EQ(two.exit_code, 0) << two.err;
  std::istringstream lines(two.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "ready");
  std::vector<Json> blocks;
  while (std::getline(lines, line)) blocks.push_back(Json::parse(line));
  ASSERT_EQ(blocks.size(), 2u);
  for (const Json& block : blocks) {
    const auto times = block["times_ms"].get<std::vector<double>>();
    EXPECT_EQ(block["runs"], times.size());
    EXPECT_GE(block["median_ms"], *std::ranges::min_element(times));
    EXPECT_LE(block["median_ms"], *std::ranges::max_element(times));
  }
  const Ran none = answers("stop 5\n");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("wanted 'go MILLISECONDS'"));
}

TEST(Profile, WritesATraceOfOneInference) {
  Tool tool;
  ASSERT_EQ(tool.run({"profile", bert_tiny(), "--shape", kShape, "--trace", tool / "trace.json"}).exit_code, 0);
  const Json trace = Json::parse(*read_text_file(tool / "trace.json"));
  const Json& events = trace.is_array() ? trace : trace["traceEvents"];
  EXPECT_TRUE(std::ranges::any_of(events, [](const Json& event) {
    return event.value("ph", "") == "X" && event.value("dur", 0.0) > 0;
  })) << "a launch that took time";
}

TEST(JsonOption, IsOneObjectOfAdviceAndOfADiagnosis) {
  Tool tool;
  const Json advice = json_of(
      tool.run({"advise", std::string(RUNG_TEST_DATA) + "/traces/small_eager.json.gz", "--json"}));
  EXPECT_THAT(advice.dump(), HasSubstr("launch_bound"));
  const Json doctor = json_of(tool.run({"doctor", "--root", std::string(RUNG_TEST_DATA) + "/machine", "--json"}));
  EXPECT_THAT(doctor["findings"], testing::IsEmpty());
}

// ---- machine code

const std::string kCode = R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
	.text
k:                                      ; @k
; %bb.0:
	v_lshlrev_b32_e32 v4, 4, v0
.LBB1_2:                                ; =>This Inner Loop Header: Depth=1
	global_load_dword v3, v4, s[0:1]
	s_waitcnt vmcnt(0)
	ds_write_b128 v4, v[0:3]
	s_cbranch_scc0 .LBB1_2
	s_endpgm
.Lfunc_end1:
j:                                      ; @j
; %bb.0:
	s_endpgm
.Lfunc_end2:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .group_segment_fixed_size: 8192
    .max_flat_workgroup_size: 256
    .name:           k
    .private_segment_fixed_size: 16
    .sgpr_count:     14
    .sgpr_spill_count: 1
    .vgpr_count:     165
    .vgpr_spill_count: 3
  - .agpr_count:     0
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 64
    .name:           j
    .private_segment_fixed_size: 0
    .sgpr_count:     8
    .sgpr_spill_count: 0
    .vgpr_count:     8
    .vgpr_spill_count: 0
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
...
	.end_amdgpu_metadata
)";

class MachineCode : public testing::TestWithParam<const char*> {  // the command
 protected:
  Json first(std::vector<std::string> more) {
    std::vector<std::string> all{GetParam(), tool.folder().write("code.s", kCode), "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(tool.run(all))["kernels"][0];
  }
  Tool tool;
};

TEST_P(MachineCode, IsOfOneKernelWhereThatIsNamed) {
  EXPECT_EQ(first({"--kernel", "j"})["name"], "j");
  EXPECT_EQ(first({"--kernel", "k"})["name"], "k");
  expect_error(tool.run({GetParam(), tool / "code.s", "--kernel", "none"}), 1, "no kernel 'none'");
}

TEST_P(MachineCode, CountsWavesByTheFormulaThatIsAskedFor) {
  const auto waves = [&](const char* formula) {
    return first({"--kernel", "k", "--formula", formula})["occupancy"]["waves_by_limit"]["vector registers"];
  };
  EXPECT_EQ(waves("exact"), 3) << "165 registers are 168";
  EXPECT_EQ(waves("guide"), 2) << "or 176";
}

TEST_P(MachineCode, CountsWhatALaunchAddsToItsLds) {
  EXPECT_EQ(first({"--kernel", "k"})["occupancy"]["groups_by_limit"]["LDS"], 65536 / 8192);
  EXPECT_EQ(first({"--kernel", "k", "--lds", "24576"})["occupancy"]["groups_by_limit"]["LDS"], 65536 / 32768);
}

TEST_P(MachineCode, OfTextThatNamesNoTargetIsForTheOneThatIsGiven) {
  std::string bare = "k:\n\tv_mov_b32_e32 v0, v1\n\ts_endpgm\n";
  const std::string file = tool.folder().write("bare.s", bare);
  const Json json = json_of(tool.run({GetParam(), file, "--target", "gfx950", "--json"}));
  EXPECT_EQ(json["kernels"][0]["target"], "gfx950");
}

INSTANTIATE_TEST_SUITE_P(Commands, MachineCode, testing::Values("isa", "occupancy"),
                         [](const auto& command) { return std::string(command.param); });

TEST(Isa, FailsOnTheFindingsThatAreNamedAlone) {
  Tool tool;
  const std::string code = tool.folder().write("code.s", kCode);
  const auto failing = [&](const char* kinds) { return tool.run({"isa", code, "--fail-on", kinds}); };
  EXPECT_EQ(failing("spill").exit_code, 1);
  EXPECT_THAT(error_line(failing("bank-conflict,spill")), HasSubstr("k: spill: "));
  EXPECT_EQ(failing("undecoded").exit_code, 0);
  EXPECT_EQ(failing("gossip").exit_code, 2);
}

TEST(Occupancy, OfNumbersCountsEachOfThem) {
  Tool tool;
  const auto waves = [&](std::vector<std::string> numbers) {
    std::vector<std::string> all{"occupancy", "--vgprs"};
    all.insert(all.end(), numbers.begin(), numbers.end());
    all.emplace_back("--json");
    return json_of(tool.run(all))["occupancy"]["waves_by_limit"];
  };
  EXPECT_EQ(waves({"128", "--group", "64"})["vector registers"], 4);
  EXPECT_EQ(waves({"128", "--group", "64", "--agprs", "128"})["vector registers"], 2);
  EXPECT_EQ(waves({"32", "--group", "64", "--sgprs", "100"})["scalar registers"], 7);
  const Json small = waves({"32", "--group", "1024", "--lds", "40960", "--target", "gfx942"}),
             large = waves({"32", "--group", "1024", "--lds", "40960", "--target", "gfx950"});
  EXPECT_LT(small["LDS"], large["LDS"]) << "gfx950 has more LDS";
}

}  // namespace
}  // namespace rung

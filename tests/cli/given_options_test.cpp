// Options that reach what they name in every command that takes them: a command of its own that forgot to pass one on
// would run all the same. tools/given_options.py lists those that no test gives.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "device/gpu/modules.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A command on a model, with what it cannot do without.
class ModelCommand : public ::testing::TestWithParam<const char*> {
 protected:
  Ran run(const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{GetParam(), model};
    if (is("build")) arguments.insert(arguments.end(), {"--out", tool / "plan.rung"});
    if (is("climb")) arguments.insert(arguments.end(), {"--out", tool / "climbed", "--budget", "1s"});
    if (is("bench")) arguments.insert(arguments.end(), {"--runs", "3"});
    if (is("run")) arguments.insert(arguments.end(), {"--inputs", bert_tiny() + "/inputs.npz"});
    if (is("compare")) arguments.insert(arguments.end(), {model, "--budget", "1s", "--max-slowdown", "900%"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  // `run` has the shape by its inputs, and all three inputs have one.
  Ran run_shaped(const std::string& model, std::vector<std::string> more) {
    if (!is("run")) more.insert(more.end(), {"--shape", kShape});
    return run(model, more);
  }
  bool is(std::string_view command) const { return GetParam() == command; }

  Tool tool;
};

struct RefusedOption {
  const char *option, *message;
};
struct ModelOptions {
  std::vector<const char*> commands;   // that take them
  std::vector<RefusedOption> refused;  // with a value that only what acts on it can refuse
  const char *random_weights, *drop_head, *dtype;
};
const ModelOptions kGiven{
    .commands = {"bench", "build", "climb", "explain", "inspect", "profile", "run", "verify", "compare"},
    .refused = {{"--observe=nothing", "no value of the model is labelled 'nothing'"},
                {"--freeze=nothing", "--freeze nothing: --inputs gives it no value"},
                {"--device=emu:gfx000", "--device: got 'emu:gfx000', wanted cpu"},
                {"--threads=1025", "--threads"},
                {"--shape=nothing=1", "a shape for input 'nothing'"},
                {"--cache=9", "a cache of 9 tokens: bert has no keys and values to remember"},
                {"--scored-chunk=9", "chunks of up to 9 tokens with all scores: got no cache"},
                {"--log=6", "--log"}},
    .random_weights = "--random-weights",
    .drop_head = "--drop-head",
    .dtype = "--dtype"};

INSTANTIATE_TEST_SUITE_P(All, ModelCommand, ::testing::ValuesIn(kGiven.commands));

TEST_P(ModelCommand, ActsOnTheOptionsOfAModel) {
  for (const RefusedOption& given : kGiven.refused) {
    SCOPED_TRACE(given.option);
    const Ran ran = run(bert_tiny(), {given.option});
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_THAT(error_line(ran), HasSubstr(given.message));
  }
}

TEST_P(ModelCommand, MakesUpWeightsOnlyWhenAsked) {
  const std::string model = tool / "model";
  std::filesystem::create_directory(model);
  std::filesystem::copy(bert_tiny() + "/config.json", model);
  expect_error(run_shaped(model, {}), 1, "got 0 *.safetensors files");
  const Ran ran = run_shaped(model, {kGiven.random_weights, "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

// The model as a class with a head saves it: all its tensors under "bert.".
void write_with_head(const TemporaryDirectory& folder) {
  auto config = Json::parse(read_text_file(bert_tiny() + "/config.json").value());
  config["architectures"] = {"BertForMaskedLM"};
  folder.write("config.json", config.dump());
  const std::string weights = read_text_file(bert_tiny() + "/model.safetensors").value();
  uint64_t size = 0;
  std::memcpy(&size, weights.data(), sizeof size);
  const Json tensors = Json::parse(weights.substr(sizeof size, size));
  Json header = Json::object();
  for (const auto& [name, tensor] : tensors.items()) header[name == "__metadata__" ? name : "bert." + name] = tensor;
  const std::string text = header.dump();
  const uint64_t length = text.size();
  folder.write("model.safetensors", std::string(reinterpret_cast<const char*>(&length), sizeof length) + text +
                                        weights.substr(sizeof size + size));
}

TEST_P(ModelCommand, DropsAHeadOnlyWhenAsked) {
  TemporaryDirectory folder;
  write_with_head(folder);
  expect_error(run_shaped(folder.path(), {}), 1, kGiven.drop_head);
  const Ran ran = run_shaped(folder.path(), {kGiven.drop_head});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

// Those that build a plan say at level 5 what is in it.
TEST_P(ModelCommand, TakesItsLogLevelAndPrecisionFromOptions) {
  if (is("inspect")) GTEST_SKIP() << "inspects the model as it is imported: no plan is built";
  const Ran plain = run_shaped(bert_tiny(), {}), logged = run_shaped(bert_tiny(), {"--log", "5"}),
            narrow = run_shaped(bert_tiny(), {"--log", "5", kGiven.dtype, "bf16"});
  for (const Ran* ran : {&plain, &logged, &narrow}) ASSERT_EQ(ran->exit_code, 0) << ran->err;
  EXPECT_THAT(plain.err, Not(HasSubstr("graph \"bert\"")));
  EXPECT_THAT(logged.err, HasSubstr("graph \"bert\""));
  if (!is("climb")) {  // which times the cheaper precision as well
    EXPECT_THAT(logged.err, Not(HasSubstr("bf16[")));
  }
  EXPECT_THAT(narrow.err, HasSubstr("bf16["));
}

TEST(GivenOptions, OfBenchKeepTheRate) {
  Tool tool;
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = tool.run({"bench", bert_tiny(), "--shape", kShape, "--runs", "11", "--rate", "20", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["rate_hz"], 20.0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500)) << "ten waits of 50 ms";
}

TEST(GivenOptions, OfCompareAreOfItsSides) {
  Tool tool;
  std::filesystem::create_directory(tool / "model");
  std::filesystem::copy(bert_tiny() + "/config.json", tool / "model");
  const std::string a = bert_tiny(), b = tool / "other.rung";
  ASSERT_EQ(tool.run({"build", tool / "model", "--shape", kShape, "--random-weights", "1", "--out", b}).exit_code, 0);
  expect_error(tool.run({"compare", a, a, "--budget", "1s", "--inputs", tool / "no.npz"}), 1, "no.npz': no such file");
  expect_error(tool.run({"compare", a, a, "--budget", "1s", "--recipe-a", tool / "no.json"}), 1, "no.json': no such");
  const Ran told = tool.run({"compare", a, b, "--shape", kShape, "--budget", "1s", "--max-slowdown", "900%"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  const Ran failed =
      tool.run({"compare", a, b, "--shape", kShape, "--budget", "1s", "--max-slowdown", "900%", "--same-outputs"});
  EXPECT_EQ(failed.exit_code, 1) << failed.out;
  EXPECT_THAT(error_line(failed), HasSubstr("outputs"));
}

TEST(GivenOptions, OfProfileWriteATrace) {
  Tool tool;
  const Ran ran = tool.run({"profile", bert_tiny(), "--shape", kShape, "--trace", tool / "trace.json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json trace = Json::parse(read_text_file(tool / "trace.json").value_or(""), nullptr, false);
  ASSERT_TRUE(trace.contains("traceEvents"));
  EXPECT_GT(trace["traceEvents"].size(), 10u);
}

TEST(GivenOptions, OfPredictAreTheRecipesDecisions) {
  Tool tool;
  const std::string model = bert_tiny(), recipe = tool.folder().write("recipe.json", R"({"version":1,"rungs":["no"]})");
  expect_error(tool.run({"predict", model, "--shape", kShape, "--gpu", "mi300x", "--recipe", recipe}), 1, "recipe");
  expect_error(tool.run({"predict", model, "--gpu", "mi300x", "--observe", "nothing"}), 1, "'nothing'");
  expect_error(tool.run({"predict", model, "--gpu", "mi300x", "--log", "9"}), 2, "--log");
  expect_error(tool.run({"predict", model, "--gpu", "mi300x", "--cache", "9"}), 2, "a cache of 9 tokens");
  expect_error(tool.run({"predict", model, "--gpu", "mi300x", "--scored-chunk", "9"}), 2, "got no cache");
  if (auto verdict = gpu::has_kernels_for(0x942); !verdict) GTEST_SKIP() << verdict.reason;
  std::filesystem::create_directory(tool / "model");
  std::filesystem::copy(model + "/config.json", tool / "model");
  const Ran ran = tool.run(
      {"predict", tool / "model", "--shape", kShape, "--gpu", "mi300x", "--random-weights", "1", "--drop-head"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

class MachineCodeOptions : public ::testing::Test {
 protected:
  Json kernels(const Ran& ran) {
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false).value("kernels", Json::array());
  }
  Ran occupancy(const std::vector<std::string>& numbers) {
    std::vector<std::string> arguments{"occupancy", "--json", "--vgprs", "64"};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    return tool.run(arguments);
  }
  Tool tool;
  static std::string assembly_of(const std::string& name) {
    return name + ":\n\ts_endpgm\n\t.amdhsa_kernel " + name +
           "\n\t\t.amdhsa_next_free_vgpr 8\n\t\t.amdhsa_next_free_sgpr 8\n\t.end_amdhsa_kernel\n";
  }
  const std::string file = tool.folder().write(
      "two.s", "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n" + assembly_of("first") + assembly_of("second"));
};

TEST_F(MachineCodeOptions, OfIsaChooseAKernelAndAddLds) {
  const Json both = kernels(tool.run({"isa", file, "--json"}));
  ASSERT_EQ(both.size(), 2u);
  const Json one = kernels(tool.run({"isa", file, "--json", "--kernel", "second", "--lds", "40000"}));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["name"], "second");
  EXPECT_EQ(one[0]["occupancy"]["limit"], "LDS");
  EXPECT_NE(both[1]["occupancy"]["limit"], "LDS");
}

TEST_F(MachineCodeOptions, OfOccupancyChooseAKernelAndAddLds) {
  const Json both = kernels(tool.run({"occupancy", file, "--json"}));
  ASSERT_EQ(both.size(), 2u);
  const Json one = kernels(tool.run({"occupancy", file, "--json", "--kernel", "second", "--lds", "40000"}));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["name"], "second");
  EXPECT_EQ(one[0]["occupancy"]["limit"], "LDS");
}

// Bytes that are asked for hold for each file of a folder, whatever stands beside it.
TEST_F(MachineCodeOptions, OfOccupancyHoldForAFolderToo) {
  std::filesystem::create_directory(tool / "folder");
  std::filesystem::copy(file, tool / "folder/two.s");
  tool.folder().write("folder/two.json", R"({"shared": 40000})");
  const auto limit = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"occupancy", tool / "folder", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return kernels(tool.run(arguments)).at(1)["occupancy"]["limit"];
  };
  EXPECT_EQ(limit({}), "LDS");
  EXPECT_NE(limit({"--lds", "512"}), "LDS");
}

TEST_F(MachineCodeOptions, OfIsaFailOnAnyKernelsFinding) {
  const std::string plain = assembly_of("plain"), end = "\ts_endpgm\n";
  std::string loop = assembly_of("wide");  // whose 64 lanes meet in one bank of LDS
  loop.replace(loop.find(end), end.size(),
               "\tv_lshlrev_b32_e32 v1, 7, v0\n.LBB0_1:\n\tds_read_b32 v2, v1\n\ts_waitcnt lgkmcnt(0)\n"
               "\ts_cbranch_scc1 .LBB0_1\n" +
                   end);
  for (const std::string& both : {plain + loop, loop + plain}) {
    const std::string code = tool.folder().write("both.s", "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n" + both);
    const Json found = kernels(tool.run({"isa", code, "--json"}));
    ASSERT_EQ(found.size(), 2u);
    const Json& kernel = found[found[0]["name"] == "wide" ? 0 : 1];
    ASSERT_FALSE(kernel["findings"].empty()) << kernel;
    EXPECT_EQ(tool.run({"isa", code, "--fail-on", kernel["findings"][0]["kind"]}).exit_code, 1);
  }
}

TEST_F(MachineCodeOptions, OfOccupancyAreTheNumbersOfAWave) {
  const auto waves = [](const Ran& ran) { return Json::parse(ran.out, nullptr, false)["occupancy"]; };
  const Json plain = waves(occupancy({}));
  EXPECT_EQ(plain["waves_per_simd"], 8.0);
  EXPECT_EQ(waves(occupancy({"--agprs", "192"}))["waves_per_simd"], 2.0);
  EXPECT_EQ(waves(occupancy({"--sgprs", "108"}))["limit"], "scalar registers");
  EXPECT_EQ(waves(occupancy({"--lds", "65536"}))["limit"], "LDS");
  EXPECT_NE(waves(occupancy({"--formula", "guide"}))["waves_by_limit"], plain["waves_by_limit"]);
  EXPECT_NE(tool.run({"isa", file, "--formula", "guide"}).out, tool.run({"isa", file}).out);
}

TEST_F(MachineCodeOptions, OfOccupancyAreNumbersOrAFile) {
  const std::string wanted = "wanted a file of machine code or --vgprs, and not both";
  expect_error(tool.run({"occupancy"}), 2, wanted);
  expect_error(tool.run({"occupancy", "--sgprs", "8"}), 2, wanted);
  expect_error(tool.run({"occupancy", file, "--vgprs", "8"}), 2, wanted);
  for (const char* command : {"isa", "occupancy"})
    expect_error(tool.run({command, file, "--kernel", "third"}), 1, "no kernel 'third'");
}

TEST_F(MachineCodeOptions, OfOccupancyChooseTargetAndGroup) {
  const auto told = [&](const std::vector<std::string>& more) {
    return Json::parse(occupancy(more).out, nullptr, false);
  };
  const Json small = told({"--lds", "65536"}), large = told({"--lds", "65536", "--target", "gfx950"});
  EXPECT_EQ(small["target"], "gfx942");
  EXPECT_EQ(large["target"], "gfx950");
  EXPECT_EQ(small["occupancy"]["groups_by_limit"]["LDS"], 1);
  EXPECT_EQ(large["occupancy"]["groups_by_limit"]["LDS"], 2) << "of 160 KiB";
  EXPECT_EQ(told({"--group", "1024"})["occupancy"]["groups"].get<int>() * 4,
            told({"--group", "256"})["occupancy"]["groups"].get<int>());
  EXPECT_EQ(told({})["occupancy"], told({"--group", "256"})["occupancy"]) << "the default";
}

TEST_F(MachineCodeOptions, OfIsaFailOnAnyOfSeveralKinds) {
  std::string text = assembly_of("deep");
  text.insert(text.find("\t.end_amdhsa_kernel"), "\t\t.amdhsa_private_segment_fixed_size 64\n");
  const std::string code = tool.folder().write("deep.s", "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n" + text);
  EXPECT_EQ(tool.run({"isa", code, "--fail-on", "spill,drain"}).exit_code, 0);
  for (const char* kinds : {"scratch", "scratch,spill", "spill,scratch", "spill,scratch,drain"}) {
    const Ran ran = tool.run({"isa", code, "--fail-on", kinds});
    EXPECT_EQ(ran.exit_code, 1) << kinds;
    EXPECT_THAT(error_line(ran), HasSubstr("1 finding of --fail-on, the first: deep: scratch: 64 bytes")) << kinds;
  }
}

TEST_F(MachineCodeOptions, OfIsaCountMatrixProductsByShape) {
  std::string text = assembly_of("products");
  const std::string f16 = "\tv_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n",
                    bf16 = "\tv_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]\n",
                    blocks = "\tv_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n";
  text.insert(text.find("\ts_endpgm"), f16 + f16 + bf16 + blocks);
  const std::string code = tool.folder().write("products.s", "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n" + text);
  const Json kernel = kernels(tool.run({"isa", code, "--json"})).at(0);
  EXPECT_EQ(kernel["matrix_by_shape"], Json({{"16x16x16", 3}, {"4x4x4_16b", 1}}));
  EXPECT_EQ(kernel["matrix"]["v_mfma_f32_16x16x16_f16"], 2);
  EXPECT_EQ(kernel["instructions"]["matrix"], 4);
}

TEST(GivenOptions, OfTuneAreTheDatabaseAndTheThreads) {
  Tool tool;
  const std::string list = tool.folder().write("list.csv", "m,n,k,dtype\n4,64,32,f32\n");
  expect_error(tool.run({"tune", list, "--threads", "1025"}), 2, "--threads");
  expect_error(tool.run({"tune", list, "--log", "6"}), 2, "--log");
  const Ran ran = tool.run({"tune", list, "--threads", "1", "--budget", "1s", "--database", tool / "kept.json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(tool / "kept.json"));
  EXPECT_FALSE(std::filesystem::exists(tool / "cache/tuning.json"));
}

TEST(GivenOptions, OfWhatPrintsTablesGiveJson) {
  Tool tool;
  for (const auto& command : {std::vector<std::string>{"doctor", "--json"}, {"options", "--json"}}) {
    const Ran ran = tool.run(command);
    EXPECT_TRUE(Json::accept(ran.out)) << command[0];
  }
  const std::string list = tool.folder().write("list.csv", "m,n,k\n1,2,3\n1,2,3\n");
  const Ran lint = tool.run({"tune", "lint", list, "--json"});
  EXPECT_EQ(Json::parse(lint.out, nullptr, false)["findings"].size(), 1u) << lint.out;
}

}  // namespace
}  // namespace rung

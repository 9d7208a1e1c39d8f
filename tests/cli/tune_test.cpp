// rung tune where AMD's libraries are played: what it writes for PyTorch and the others, and what it holds against
// their versions. Products of the stand-ins take half as long by one solution, and no doubt is left.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "device/gpu/modules.hpp"
#include "support/pace.hpp"
#include "support/program.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPython =
    R"(for line in "PT_VERSION=2.11.0" "HIP_VERSION=70051831" "GCN_ARCH_NAME=gfx942:sramecc+:xnack-" \
  "HIPBLASLT_VERSION=100001-0123abc" "ROCBLAS_VERSION=5.0.2.4567def"; do echo "rung-answer validator $line" >&2; done)";
constexpr const char* kRecorded =
    "GemmTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32\n"
    "GemmAndBiasTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32\n"
    "GemmStridedBatchedTunableOp_BFloat16_NN,nn_32_8_16_B_2_ld_32_16_32\n"
    "GemmTunableOp_double_TN,tn_32_9_64_ld_64_64_32\n";

class TuneOnHip : public testing::Test {
 protected:
  void SetUp() override {
    if (auto missing = gpu::missing_modules_reason(gpu::Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
    setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_HIPBLASLT_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
  }
  void TearDown() override {
    for (const char* name : {"LD_LIBRARY_PATH", "RUNG_FAKE_FAST_SOLUTION", "RUNG_FAKE_SOLUTIONS"}) unsetenv(name);
  }
  Ran tune(const std::string& list, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"tune",    tool.folder().write("list.csv", list), "--device", "hip", "--budget",
                                       budget(60)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  std::string written() { return read_text_file(out).value_or("none"); }

  Tool tool;
  const std::string out = tool / "results.csv", python = write_program(tool.folder(), "python", kPython);
};

TEST_F(TuneOnHip, WritesWhatPyTorchLoads) {
  setenv("RUNG_FAKE_FAST_SOLUTION", "7002", 1);
  const Ran ran = tune(kRecorded, {"--out", out, "--python", python});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("faster than the default: linear_hipblaslt algorithm=7002"));
  EXPECT_THAT(ran.out, HasSubstr("not tuned: kernels here do not compute in f64"));
  EXPECT_THAT(ran.out, HasSubstr("3 of 4 products written to " + out + " (tunableop)"));
  const std::string text = written();
  for (const char* line : {"Validator,PT_VERSION,2.11.0\n", "Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n",
                           "Validator,HIPBLASLT_VERSION,100001-0123abc\n", "Validator,HIP_VERSION,70051831\n",
                           "Validator,ROCBLAS_VERSION,5.0.2.4567def\n",
                           "\nGemmTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32,Gemm_Hipblaslt_7002,",
                           "\nGemmAndBiasTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32,Gemm_Hipblaslt_7002,",
                           "\nGemmStridedBatchedTunableOp_BFloat16_NN,nn_32_8_16_B_2_ld_32_16_32,Gemm_Hipblaslt_7002,"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("double")));
}

TEST_F(TuneOnHip, KeepsTheDefaultWhereNothingIsFaster) {
  const Ran ran = tune("m,n,k\n9,32,64\n", {"--out", out, "--format", "tunableop", "--python", python, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json product = Json::parse(ran.out)["products"][0];
  EXPECT_EQ(product["faster"], false);
  EXPECT_EQ(product["solution"], "Default");
  EXPECT_EQ(product["reason"], "default kept: no clear difference");
  EXPECT_DOUBLE_EQ(product["ratio"].get<double>(), 1);
  EXPECT_THAT(written(), HasSubstr("\nGemmTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32,Default,"));
}

TEST_F(TuneOnHip, ChoosesWhatTheStackCanName) {
  setenv("RUNG_FAKE_FAST_SOLUTION", "301", 1);  // of rocBLAS
  const std::string list = "m,n,k\n9,32,64\n";
  EXPECT_EQ(tune(list, {"--out", out, "--format", "tunableop", "--python", python}).exit_code, 0);
  EXPECT_THAT(written(), HasSubstr(",Gemm_Rocblas_301,"));
  const std::string aiter = tool / "aiter.csv";
  EXPECT_EQ(tune(list, {"--out", aiter, "--format", "aiter"}).exit_code, 0);
  EXPECT_THAT(*read_text_file(aiter), HasSubstr(",torch,0,")) << "it has no solutions of rocBLAS's";
  setenv("RUNG_FAKE_FAST_SOLUTION", "7003", 1);
  const std::string again = tool / "again.csv";
  EXPECT_EQ(tune(list, {"--out", again, "--format", "aiter", "--database", tool / "other.json"}).exit_code, 0);
  EXPECT_THAT(*read_text_file(again),
              HasSubstr("\ngfx942,304,9,32,64,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,7003,"));
}

TEST_F(TuneOnHip, WritesAnOverrideFileOfHipblasltsOwnBuild) {
  setenv("RUNG_FAKE_FAST_SOLUTION", "7002", 1);
  const Ran ran = tune("m,n,k\n9,32,64\n9,32,63\n", {"--out", out, "--format", "hipblaslt"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(written(), StartsWith("Git Version: 0123abc\n"));
  EXPECT_THAT(written(), HasSubstr(",7002,"));
  EXPECT_THAT(ran.out, HasSubstr("1 of 2 products written"));
}

TEST_F(TuneOnHip, CompletesAFileAndKeepsItsBytes) {
  setenv("RUNG_FAKE_FAST_SOLUTION", "7002", 1);
  ASSERT_EQ(tune(kRecorded, {"--out", out, "--python", python}).exit_code, 0);
  std::string before = written();
  const std::string other = "GemmTunableOp_float_TN,tn_8_8_8_ld_8_8_8,Gemm_Rocblas_77,0.5,extra\n";
  tool.folder().write("results.csv", before + other);
  // Its validators are the file's own.
  const Ran ran = tune("m,n,k\n9,32,64\n16,32,64\n", {"--out", out});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(written(), HasSubstr(other + "GemmTunableOp_BFloat16_TN,tn_32_16_64_ld_64_64_32,Gemm_Hipblaslt_7002,"));
  EXPECT_THAT(written(), StartsWith(before.substr(0, before.find("GemmTunableOp"))));
}

TEST_F(TuneOnHip, RefusesFilesOfOtherVersions) {
  const std::string list = "m,n,k\n9,32,64\n";
  const auto validators = [&](std::string text) { return tool.folder().write("validators.csv", std::move(text)); };
  const auto refused = [&](const std::string& text, const std::string& message) {
    expect_error(tune(list, {"--out", out, "--format", "tunableop", "--validators", validators(text)}), 1, message);
    EXPECT_EQ(written(), "none");
  };
  refused("Validator,GCN_ARCH_NAME,gfx942\n", "got no line 'Validator,PT_VERSION,...'");
  refused("Validator,PT_VERSION,2.11.0\n", "PyTorch's validators are for no GPU of AMD's, this device is gfx942");
  refused("Validator,PT_VERSION,2.11.0\nValidator,GCN_ARCH_NAME,gfx950:x\n",
          "PyTorch's validators are for gfx950:x, this device is gfx942");
  refused("Validator,PT_VERSION,2.11.0\nValidator,GCN_ARCH_NAME,gfx942\nValidator,HIPBLASLT_VERSION,100001-4567def\n",
          "HIPBLASLT_VERSION: PyTorch has 100001-4567def, tuned here is 100001-0123abc");
  tool.folder().write("results.csv", "Validator,PT_VERSION,2.9.0\nValidator,GCN_ARCH_NAME,gfx942\n");
  expect_error(tune(list, {"--out", out, "--python", python}), 1,
               "is for GCN_ARCH_NAME gfx942, wanted gfx942:sramecc+");
  expect_error(tune(list, {"--out", tool / "new.csv", "--format", "tunableop", "--python", "no-such-python"}), 1,
               "'no-such-python' does not give the validators of its PyTorch");
}

TEST_F(TuneOnHip, RemembersWhatItTuned) {
  setenv("RUNG_FAKE_FAST_SOLUTION", "7002", 1);
  ASSERT_EQ(tune("m,n,k\n9,32,64\n", {"--out", out, "--format", "tunableop", "--python", python}).exit_code, 0);
  const Json database = Json::parse(*read_text_file(tool / "cache/tuning.json"));
  EXPECT_THAT(database.dump(), HasSubstr("linear m=9 n=32 k=64 x=bf16 w=bf16 out=bf16 rows=library"));
  EXPECT_THAT(database.dump(), Not(HasSubstr("linear m=9 n=32 k=64 x=bf16 w=bf16 out=bf16\"")))
      << "a climb would take it for all rows";
}

TEST(Tune, OnTheProcessorPrintsTableAndSummary) {
  Tool tool;
  const std::string list = tool.folder().write("list.csv", "m,n,k,dtype\n4,64,32,f32\n");
  const Ran ran = tool.run({"tune", list, "--threads", "1", "--budget", budget(20), "--out", tool / "tuned.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("m=4 n=64 k=32 f32 TN"));
  EXPECT_THAT(ran.out, HasSubstr("1 of 1 product written to " + (tool / "tuned.csv") + " (csv)"));
}

TEST(Tune, SaysWhatIsWrongWithItsWords) {
  Tool tool;
  const std::string list = tool.folder().write("list.csv", "m,n,k,dtype\n4,64,32,f32\n");
  expect_error(tool.run({"tune"}), 2, "SHAPES is required");
  expect_error(tool.run({"tune", list, "--budget", "soon"}), 2, "--budget: got 'soon', wanted a time such as 60s");
  expect_error(tool.run({"tune", list, "--format", "yaml", "--out", tool / "x"}), 2, "--format");
  expect_error(tool.run({"tune", tool / "nothing"}), 1, "no such file");
  expect_error(tool.run({"tune", list, "--device", "gpu"}), 2, "gpu");
  expect_error(tool.run({"tune", list, "--out", "/dev/null/x.csv"}), 1, "'/dev/null': cannot write: Not a directory");
}

TEST(Tune, ThatIsInterruptedKeepsWhatItHas) {
  Tool tool;
  std::string text = "m,n,k,dtype\n";
  for (int m = 1; m <= 200; ++m) text += fmt::format("{},256,256,f32\n", m);
  const std::string list = tool.folder().write("list.csv", text), out = tool / "tuned.csv";
  const auto tune = tool.start({"tune", list, "--threads", "1", "--budget", budget(100), "--out", out, "--log", "3"});
  const auto said = [&] { return read_text_file(tune.err).value_or("").find("tune linear") != std::string::npos; };
  for (int waited = 0; waited < 6000 && !said(); ++waited) usleep(10'000);
  kill(tune.pid, SIGINT);
  const Ran ran = Tool::wait(tune);
  EXPECT_EQ(ran.exit_code, 128 + SIGINT);
  EXPECT_THAT(error_line(ran), HasSubstr("interrupted; what was tuned by then is kept in " + out));
  EXPECT_THAT(ran.out, HasSubstr("not tuned: interrupted"));
  EXPECT_THAT(read_text_file(out).value_or(""), StartsWith("m,n,k,batch,"));
}

}  // namespace
}  // namespace rung

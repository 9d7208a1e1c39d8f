// rung tune lint: what it prints of a file, when it fails, and rows that are timed where AMD's libraries are played.
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

constexpr const char* kValidators =
    "Validator,PT_VERSION,2.11.0\n"
    "Validator,HIP_VERSION,70051831\n"
    "Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n"
    "Validator,HIPBLASLT_VERSION,100001-0123abc\n"
    "Validator,ROCBLAS_VERSION,5.0.2.4567def\n";
constexpr const char* kLintedPython =
    R"(for line in "PT_VERSION=2.11.0" "HIP_VERSION=70051831" "GCN_ARCH_NAME=gfx942:sramecc+:xnack-" \
  "HIPBLASLT_VERSION=100001-0123abc" "ROCBLAS_VERSION=5.0.2.4567def"; do echo "rung-answer validator $line" >&2; done)";
constexpr const char* kRow = "GemmTunableOp_BFloat16_TN,tn_32_9_64_ld_64_64_32,";

class TuneLint : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name = "results.csv") {
    return tool.folder().write(name, text);
  }
  Ran lint(const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"tune", "lint", file(text)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }

  Tool tool;
};

TEST_F(TuneLint, FindsNothingInASoundFile) {
  const std::string text = kValidators + std::string(kRow) + "Gemm_Hipblaslt_7002,0.5\n";
  const Ran ran = lint(text, {"--gpu", "mi300x", "--python", write_program(tool.folder(), "python", kLintedPython)});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            (tool / "results.csv") + ": tunableop, 1 row, 0 lines refused, 0 rows timed; 0 problems, 0 notes\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(TuneLint, SaysWhereWhatIsWrong) {
  const std::string text =
      kValidators + std::string(kRow) + "Gemm_Hipblaslt_7002,0.5\n" + kRow + "Default,0\n\x1b[2J,x\n";
  const Ran ran = lint(text, {"--gpu", "mi355x", "--validators", file("Validator,PT_VERSION,2.12.0\n", "other.csv")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::string path = tool / "results.csv";
  EXPECT_THAT(ran.out, HasSubstr(path + ":1: problem: PT_VERSION: got '2.11.0', this machine has '2.12.0'"));
  EXPECT_THAT(ran.out, HasSubstr("PyTorch takes none of the file [wrong-version]\n"));
  EXPECT_THAT(ran.out, HasSubstr(path + ":3: problem: the file is for 'gfx942:sramecc+:xnack-', this is gfx950"));
  EXPECT_THAT(ran.out, HasSubstr(path + ":7: note: "));
  EXPECT_THAT(ran.out, HasSubstr("[duplicate]"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ran.out, HasSubstr("2 rows, 1 line refused"));
}

// What was found is printed all the same.
void expect_failure(const Ran& ran, const std::string& message) {
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(error_line(ran), HasSubstr(message));
  EXPECT_THAT(ran.out, HasSubstr(" problems, "));
}

TEST_F(TuneLint, FailsOnWhatItIsAskedTo) {
  const std::string text = "M,N,K,bias,dtype\n1,2,3,False,torch.half\n0,2,3,False,torch.float16\n";
  EXPECT_EQ(lint(text, {"--fail-on", "slower,duplicate"}).exit_code, 0);
  expect_failure(lint(text, {"--fail-on", "slower,malformed"}), "2 findings of --fail-on, the first: ");
  expect_failure(lint(text, {"--fail-on", "problem"}), "results.csv:2: problem: ");
  std::string many = "m,n,k\n";
  for (int i = 0; i < 300; ++i) many += "1,2\n";
  expect_failure(lint(many, {"--fail-on", "problem"}), "300 findings of --fail-on");
  expect_failure(lint(many, {"--fail-on", "malformed"}), "300 findings of --fail-on");
  EXPECT_THAT(lint(many).out, HasSubstr("100 more of [malformed]\n"));
  const std::string twice = "m,n,k\n1,2,3\n1,2,3\n";
  EXPECT_EQ(lint(twice, {"--fail-on", "problem"}).exit_code, 0) << "a note is no problem";
  expect_failure(lint(twice, {"--fail-on", "duplicate"}), "1 finding of --fail-on");
}

TEST_F(TuneLint, SaysWhatIsWrongWithItsWords) {
  const std::string text = "m,n,k\n1,2,3\n";
  expect_error(tool.run({"tune", "lint"}), 2, "FILE is required");
  expect_error(tool.run({"tune", "lint", tool / "nothing"}), 1, "nothing");
  expect_error(lint("hello\n"), 1, "wanted one of: results of PyTorch's TunableOp");
  expect_error(lint(text, {"--fail-on", "slow"}), 2, "--fail-on");
  expect_error(lint(text, {"--format", "yaml"}), 2, "--format");
  expect_error(lint(text, {"--gpu", "mi250"}), 2, "mi250");
  expect_error(lint(text, {"--gpu", "mi300x", "--time-on", "hip"}), 2, "--time-on");
  expect_error(lint(text, {"--time-on", "cpu"}), 2, "--time-on: got cpu, wanted a GPU");
  expect_error(lint(text, {"--budget", "soon"}), 2, "--budget: got 'soon'");
  expect_error(lint(text, {"--python", "no-such-python"}), 1, "'no-such-python' does not give");
  expect_error(lint(text, {"--validators", tool / "results.csv"}), 1, "got no line 'Validator,...'");
  const std::string python = write_program(tool.folder(), "python", kLintedPython);
  expect_error(lint(text, {"--gpu", "h200", "--python", python}), 1,
               "PyTorch is for gfx942:sramecc+:xnack-, the GPU is sm_90");
}

class TuneLintOnHip : public TuneLint {
 protected:
  void SetUp() override {
    if (auto missing = gpu::missing_modules_reason(gpu::Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
    setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_HIPBLASLT_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
    setenv("RUNG_FAKE_FAST_SOLUTION", "7001", 1);  // hipBLASLt's default, which others lose to
  }
  void TearDown() override {
    for (const char* name : {"LD_LIBRARY_PATH", "RUNG_FAKE_FAST_SOLUTION"}) unsetenv(name);
  }
  Json timed(const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options{"--time-on", "hip", "--budget", budget(60), "--json"};
    options.insert(options.end(), more.begin(), more.end());
    const Ran ran = lint(text, options);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false);
  }
};

TEST_F(TuneLintOnHip, TimesRowsBesideTheDefault) {
  const std::string other = "GemmTunableOp_BFloat16_TN,tn_32_16_64_ld_64_64_32,";
  const std::string third = "GemmTunableOp_BFloat16_TN,tn_32_24_64_ld_64_64_32,";
  const Json report = timed(kValidators + std::string(kRow) + "Gemm_Hipblaslt_7002,0.5\n" + other +
                            "Gemm_Hipblaslt_7001,0.5\n" + third + "Gemm_Hipblaslt_99,0.5\n");
  EXPECT_EQ(report["measured"], 2);
  EXPECT_EQ(report["not_measured"].dump(), R"({"hipblaslt does not offer this solution for the product":1})");
  ASSERT_EQ(report["findings"].size(), 1u) << report;
  EXPECT_EQ(report["findings"][0]["line"], 6);
  EXPECT_EQ(report["findings"][0]["kind"], "slower");
  EXPECT_THAT(report["findings"][0]["text"].get<std::string>(),
              HasSubstr("m=9 n=32 k=64 bf16 TN: 'Gemm_Hipblaslt_7002'"));
}

TEST_F(TuneLintOnHip, LeavesOutSolutionsOfAnotherBuild) {
  std::string text = kValidators + std::string(kRow) + "Gemm_Hipblaslt_7002,0.5\n";
  text.replace(text.find("0123abc"), 7, "4567def");
  const Json report = timed(text);
  EXPECT_EQ(report["measured"], 0);
  EXPECT_THAT(report["not_measured"].items().begin().key(),
              HasSubstr("the solutions are of HIPBLASLT_VERSION 100001-4567def, open here is 100001-0123abc"));
  EXPECT_EQ(report["findings"].size(), 0u) << "which PyTorch may have";
  const std::string hash =
      "Git Version: 4567def\n    transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,"
      "solution_index\n    T,N,1,32,9,64,bf16_r,bf16_r,bf16_r,f32_r,7002\n";
  EXPECT_EQ(timed(hash)["findings"][0]["kind"], "wrong-version");
}

TEST_F(TuneLintOnHip, TakesTheDevicesFacts) {
  const std::string text =
      "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,"
      "bw\ngfx942,80,9,32,64,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,7002,0,7.0,a,0.0,0.0,0.0\n"
      "gfx942,304,9,32,64,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,7002,0,7.0,a,0.0,0.0,0.0\n";
  const Json report = timed(text);
  EXPECT_EQ(report["measured"], 1) << report;
  EXPECT_EQ(report["not_measured"].dump(), R"({"a row of another GPU":1})");
}

}  // namespace
}  // namespace rung

// The tool on AMD's runtime, played by a library that executes kernels in the emulator: from `--device hip` to a
// checked result, and what is said of a machine that lacks something.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/program.hpp"
#include "cli/tool.hpp"
#include "device/gpu/modules.hpp"
#include "device/gpu/runtime.hpp"
#include "kernels/params_text.hpp"
#include "support/device.hpp"
#include "tune/candidates.hpp"
#include "tune/gpu_worker.hpp"
#include "tune/worker.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kRecipe = R"({"version":1,"capture":true,"threads":0,"rungs":[]})";

class Hip : public testing::Test {
 protected:
  void SetUp() override {
    if (auto missing = gpu::missing_modules_reason(gpu::Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
    setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER, 1);
  }
  void TearDown() override {
    for (const char* name : {"LD_LIBRARY_PATH", "RUNG_FAKE_HIP", "RUNG_FAKE_DEVICES", "RUNG_FAKE_FAULT",
                             "RUNG_FAKE_SOLUTIONS", "RUNG_FAKE_ROCBLAS_SOLUTIONS"})
      unsetenv(name);
  }
  Ran run(const std::string& command, const std::string& device, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{command, bert_tiny(), "--device", device, "--shape", kShape};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  // A folder in which only `name` is found, another name for `file`.
  void only(const std::string& name, const std::string& file) {
    const std::string folder = tool / "libraries";
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink(file, folder + "/" + name);
    setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
  }
  Tool tool;
  const std::string runtime = std::string(RUNG_FAKE_HIP_FOLDER) + "/libamdhip64.so.7";
};

TEST_F(Hip, VerifiesModels) {
  const Ran bert = run("verify", "hip");
  EXPECT_EQ(bert.exit_code, 0) << bert.err;
  for (const char* name : {"/pi0_tiny", "/pi0_tiny_masked"}) {
    const Ran policy = tool.run({"verify", RUNG_TEST_DATA + std::string(name), "--device", "hip:0"});
    EXPECT_EQ(policy.exit_code, 0) << policy.err;
  }
}

TEST_F(Hip, RunsAndTimesAPlanThere) {
  const std::string recipe = tool.folder().write("recipe.json", kRecipe);
  const std::string plan = tool / "plan.rung", outputs = tool / "outputs.npz";
  const Ran built = run("build", "hip", {"--recipe", recipe, "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran ran = tool.run({"run", plan, "--inputs", bert_tiny() + "/inputs.npz", "--outputs", outputs});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(outputs));
  const Ran benched = tool.run({"bench", plan, "--runs", "5"});
  EXPECT_EQ(benched.exit_code, 0) << benched.err;
  EXPECT_THAT(benched.out, HasSubstr("hip Emulated Instinct gfx942 driver 60300000"));
  EXPECT_THAT(benched.out, Not(HasSubstr("instructions"))) << "a driver has a clock";

  setenv("RUNG_FAKE_HIP", "gfx950", 1);
  expect_error(tool.run({"run", plan}), 1, "built for 'hip Emulated Instinct gfx942 ");
}

TEST_F(Hip, FindsTheRuntimeOfAnEarlierRelease) {
  only("libamdhip64.so.6", runtime);
  const Ran ran = run("run", "hip", {"--stepwise"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST_F(Hip, CountsDevices) {
  expect_error(run("run", "hip:1", {"--stepwise"}), 1, "there is no hip device 1; this machine has 1");
  setenv("RUNG_FAKE_DEVICES", "2", 1);
  const Ran second = run("run", "hip:1", {"--stepwise"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  setenv("RUNG_FAKE_DEVICES", "0", 1);
  expect_error(run("run", "hip"), 1, "the HIP runtime sees no device");
}

TEST_F(Hip, SaysWhatIsMissing) {
  only("libamdhip64.so.7", RUNG_FAKE_DRIVER_FOLDER "/libcuda.so.1");
  expect_error(run("run", "hip"), 1, "the HIP runtime is too old: it has no hipInit");
  setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  if (gpu::hip_runtime()) return;  // this machine has one
  expect_error(run("run", "hip"), 1, "no HIP runtime: libamdhip64.so.6: ");
}

TEST_F(Hip, RefusesAnArchitectureThatNoKernelIsFor) {
  setenv("RUNG_FAKE_HIP", "gfx1100", 1);
  expect_error(run("run", "hip"), 1, "Emulated Instinct is gfx1100; ");
  setenv("RUNG_FAKE_HIP", "strange", 1);
  expect_error(run("run", "hip"), 1, "Emulated Instinct is of an unknown architecture; ");
}

TEST_F(Hip, PinsTheVendorLibrarysAlgorithmForLaterRuns) {
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_HIPBLASLT_FOLDER, 1);
  auto recipe = [&](int algorithm) {
    return tool.folder().write(
        "recipe.json", R"({"version":1,"capture":true,"threads":0,"rungs":["reduce","fusion"],"tuned_kernels":true,)"
                       R"("choices":{"linear m=9 n=32 k=32 x=f32 w=f32 out=f32 bias residual=f32":)"
                       R"({"kernel":"linear_hipblaslt","params":{"algorithm":)" +
                           std::to_string(algorithm) + "}}}}");
  };
  const std::string plan = tool / "plan.rung";
  const Ran verified = run("verify", "hip", {"--recipe", recipe(7002)});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  const Ran built = run("build", "hip", {"--recipe", recipe(7002), "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran ran = tool.run({"run", plan, "--stepwise"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  expect_error(run("build", "hip", {"--recipe", recipe(8002), "--out", plan}), 1,
               "linear_hipblaslt: got algorithm=8002, wanted one of 7001, 7002, 7003");

  setenv("RUNG_FAKE_SOLUTIONS", "9001", 1);
  expect_error(tool.run({"run", plan}), 1, "linear_hipblaslt: got algorithm=7002, wanted one of 9001, 9002, 9003");
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER, 1);
  expect_error(tool.run({"run", plan}), 1, "driver 60300000 hipblaslt 1.0.1 0123abc', this is 'hip ");
}

// A stream that is being recorded refuses that memory is taken or released meanwhile.
TEST_F(Hip, RecordsWhatRocblasChoosesByItself) {
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
  const std::string recipe = tool.folder().write("recipe.json", kRecipe), plan = tool / "plan.rung";
  const Ran built =
      tool.run({"build", RUNG_TEST_DATA "/pi0_tiny", "--device", "hip", "--recipe", recipe, "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const std::string inspected = tool.run({"inspect", plan}).out;
  EXPECT_THAT(inspected, HasSubstr("linear_rocblas"));
  EXPECT_THAT(inspected, HasSubstr("matmul_rocblas"));
  const Ran benched = tool.run({"bench", plan, "--runs", "3"});
  EXPECT_EQ(benched.exit_code, 0) << benched.err;
}

// The same of rocBLAS, in a model whose products want nothing but a sum and a residual.
TEST_F(Hip, PinsASolutionOfRocblasForLaterRuns) {
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
  const std::string model = RUNG_TEST_DATA "/pi0_tiny", plan = tool / "plan.rung";
  auto recipe = [&](int solution) {
    return tool.folder().write(
        "recipe.json", R"({"version":1,"capture":true,"threads":0,"rungs":["reduce","fusion"],"tuned_kernels":true,)"
                       R"("choices":{"linear m=14 n=64 k=128 x=bf16 w=bf16 out=f32 residual=f32":)"
                       R"({"kernel":"linear_rocblas","params":{"algorithm":)" +
                           std::to_string(solution) + "}}}}");
  };
  auto with = [&](const std::string& command, int solution, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{command, model, "--device", "hip", "--recipe", recipe(solution)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  };
  const Ran verified = with("verify", 302);
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  const Ran roomy = with("verify", 320);  // offered where there is a workspace of ours before the first question
  EXPECT_EQ(roomy.exit_code, 0) << roomy.err;
  const Ran built = with("build", 302, {"--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(tool.run({"inspect", plan}).out, HasSubstr("linear_rocblas  2"));
  const Ran benched = tool.run({"bench", plan, "--runs", "3"});
  EXPECT_EQ(benched.exit_code, 0) << benched.err;
  EXPECT_THAT(benched.out, HasSubstr("driver 60300000 rocblas 5.0.2.4567def"));
  expect_error(with("build", 399, {"--out", plan}), 1,
               "linear_rocblas: got algorithm=399, wanted one of 0, 301, 303, 305");

  setenv("RUNG_FAKE_ROCBLAS_SOLUTIONS", "901", 1);
  expect_error(tool.run({"bench", plan}), 1, "linear_rocblas: got algorithm=302, wanted one of 0, 901, 903");
}

TEST_F(Hip, HasTwoLibraries) {
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_HIPBLASLT_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
  const std::string recipe = tool.folder().write("recipe.json", kRecipe), plan = tool / "plan.rung";
  const Ran built = run("build", "hip", {"--recipe", recipe, "--out", plan});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran inspected = tool.run({"inspect", plan});
  EXPECT_THAT(inspected.out, HasSubstr("driver 60300000 hipblaslt 1.0.1 0123abc, rocblas 5.0.2.4567def"));
  EXPECT_THAT(inspected.out, HasSubstr("linear_hipblaslt")) << "the preferred one is the baseline";
  EXPECT_THAT(inspected.out, Not(HasSubstr("linear_rocblas")));
}

TEST_F(Hip, LeavesOutALibraryThatLacksAFunction) {
  const std::string folder = tool / "libraries";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(RUNG_FAKE_HIPBLASLT_FOLDER "/libhipblaslt.so.1", folder + "/librocblas.so.4");
  setenv("LD_LIBRARY_PATH", (std::string(RUNG_FAKE_HIP_FOLDER ":") + folder).c_str(), 1);
  const Ran ran = run("run", "hip", {"--stepwise", "--log", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("rocBLAS is too old: it has no rocblas_create_handle: its products are left out"));
}

TEST_F(Hip, Climbs) {
  const Ran ran = run("climb", "hip", {"--budget", "1s", "--out", tool / "out"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("verified: "));
  const Ran again = run("verify", "hip", {"--recipe", tool / "out/recipe.json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

// A fault of memory ends the process that launched; a climb launches what it does not know yet in another.
TEST_F(Hip, EndsAProcessWhoseKernelFaults) {
  setenv("RUNG_FAKE_FAULT", "norm", 1);
  const Ran ran = run("bench", "hip");
  EXPECT_EQ(ran.exit_code, 128 + SIGABRT);
  EXPECT_THAT(ran.err, HasSubstr("Memory access fault by GPU node-1"));
}

// What this program does when it is run again: tells of each candidate what came of it.
TEST(OnHip, DISABLED_MeasuresALinearLayer) {
  auto target = open_target("hip");
  ASSERT_TRUE(target) << target.error().message;
  const Shape x{8, 64}, w{64, 64};
  const Problem problem{
      .op = Linear{},
      .inputs = {{DType::bf16, x, contiguous_strides(x)}, {DType::bf16, w, contiguous_strides(w), true}},
      .output = {DType::bf16, x, contiguous_strides(x)}};
  const Candidates candidates = candidates_for(**target, problem);
  const auto measured = measure_in_worker({*target, problem, candidates.list, 0, 0.001, 20, {}});
  for (size_t i = 0; i < measured.size(); ++i)
    fmt::print(stderr, "{}{}: {}\n", candidates.list[i].kernel->name, params_text(candidates.list[i].params),
               measured[i].failure.empty() ? "measured" : measured[i].failure);
  end_gpu_worker();
}

std::string what_tuning_says() {
  setenv("RUNG_PROGRAM", RUNG_TOOL, 1);
  auto ended = run_program(
      kThisProgram, {"--gtest_also_run_disabled_tests", "--gtest_filter=OnHip.DISABLED_MeasuresALinearLayer"}, 120);
  unsetenv("RUNG_PROGRAM");
  EXPECT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->exit_code, 0) << ended->how << ": " << ended->errors;
  return ended->errors;
}

TEST_F(Hip, IsTunedInAProcessThatMayEnd) {
  setenv("LD_LIBRARY_PATH", RUNG_FAKE_HIP_FOLDER ":" RUNG_FAKE_ROCBLAS_FOLDER, 1);
  const std::string sound = what_tuning_says();
  EXPECT_THAT(sound, HasSubstr("linear_skinny_cdna rows=32: measured"));
  // The stand-in multiplies on the host, and tells the emulator's clock what that counts as.
  EXPECT_THAT(sound, HasSubstr("linear_rocblas: measured"));
  EXPECT_THAT(sound, HasSubstr("linear_rocblas algorithm=319: ")) << "a candidate, as every second solution is";
  EXPECT_THAT(sound, Not(HasSubstr("linear_rocblas algorithm=320"))) << "of the others a few are tried";
  EXPECT_THAT(sound, Not(HasSubstr("crashed")));
  setenv("RUNG_FAKE_FAULT", "linear_skinny_cdna_bf16_1_2_", 1);
  const std::string said = what_tuning_says();
  EXPECT_THAT(said, HasSubstr("linear_skinny_cdna rows=32: crashed: Aborted"));
  EXPECT_THAT(said, HasSubstr("linear_skinny_cdna: measured"));
  EXPECT_THAT(said, HasSubstr("linear_skinny_cdna waves=1: measured")) << "which comes after it";
}

}  // namespace
}  // namespace rung

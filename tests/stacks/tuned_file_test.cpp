// Files of tuned products for a GPU of NVIDIA's, whose library is played: what each PyTorch can take.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/tuned_file.hpp"

#include <gmock/gmock.h>

#include "base/atomic_file.hpp"
#include "kernels/gpu/kernel.hpp"
#include "stacks/gemm_problem.hpp"
#include "stacks/library_choice.hpp"
#include "support/fake_target.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<std::string> parameters(const gpu::LibraryGemm& gemm) {
  if (gemm.algorithm > 3) return fail("it offers four");
  return fmt::format("id_66_tile_{}_stages_36_splitk_1_red_0_swizzle_0_custom_0_inner_0_cluster_2", gemm.algorithm);
}
constexpr gpu::GemmLibrary kLibrary{
    .name = "cublaslt", .prepare = nullptr, .version = nullptr, .algorithms = nullptr, .parameters = parameters};

class TunedFiles : public ::testing::Test {
 protected:
  TunedFiles() {
    target.name = "cuda:0";
    target.machine.gpu.architecture = 90;
    target.machine.gpu.multiprocessors = 132;
    target.machine.gpu.gemm_libraries = {&kLibrary};
    target.kernels = gpu::all_kernels();
  }
  TunedFile open() {
    auto file = TunedFile::open(task, "shapes", target);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : TunedFile();
  }
  std::string refusal() {
    auto file = TunedFile::open(task, "shapes", target);
    EXPECT_FALSE(file);
    return file ? "" : file.error().message;
  }
  // What is written for a product that algorithm 3 computes faster.
  std::string written(const std::string& version) {
    task.validators = folder.write("validators.csv", "Validator,PT_VERSION," + version + "\n");
    TunedFile file = open();
    file.put(product, *problem_of(product.shape, 0));
    EXPECT_TRUE(file.write());
    return *read_text_file(task.out);
  }
  TemporaryDirectory folder;
  Target target = rung::testing::fake_target();
  ProductsTask task{.products = "",
                    .device = {},
                    .database = "",
                    .out = folder / "results0.csv",
                    .format = "tunableop",
                    .validators = "",
                    .python = ""};
  TunedProduct product{.shape = {.m = 48, .n = 1024, .k = 512},
                       .default_us = 20,
                       .best_us = 10,
                       .faster = true,
                       .choice = {"linear_cublaslt", {{"algorithm", 3}}},
                       .solution = "",
                       .reason = "faster than the default"};
};

// It would stop at any other.
TEST_F(TunedFiles, HaveOnlyDefaultsForAnOldPyTorch) {
  EXPECT_EQ(written("2.11.0"),
            "Validator,PT_VERSION,2.11.0\nGemmTunableOp_BFloat16_TN,tn_1024_48_512_ld_512_512_1024,Default,0.02\n");
  EXPECT_FALSE(product.faster);
  EXPECT_EQ(product.choice, (KernelChoice{"linear_cublaslt", {}}));
  EXPECT_EQ(product.solution, "Default");
  EXPECT_THAT(product.reason, HasSubstr("PyTorch before 2.14 takes its own default alone on NVIDIA (linear_cublaslt "
                                        "algorithm=3 is left out)"));
}

TEST_F(TunedFiles, NameAlgorithmParametersForANewPyTorch) {
  const std::string name = "Gemm_Cublaslt_id_66_tile_3_stages_36_splitk_1_red_0_swizzle_0_custom_0_inner_0_cluster_2";
  EXPECT_EQ(
      written("2.14.0"),
      "Validator,PT_VERSION,2.14.0\nGemmTunableOp_BFloat16_TN,tn_1024_48_512_ld_512_512_1024," + name + ",0.01\n");
  EXPECT_EQ(product.solution, name);
  const Problem problem = *problem_of(product.shape, 0);
  const auto choice = choice_of(target, problem, {.library = "cublaslt", .name = name, .index = 66, .split_k = {}});
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(*choice, product.choice);
  EXPECT_EQ(choice_of(target, problem, {.library = "cublaslt", .name = name + "1", .index = 66, .split_k = {}})
                .error()
                .message,
            "cublaslt does not offer this solution for the product");
  EXPECT_EQ(
      choice_of(target, problem, {.library = "default", .name = "Default", .index = {}, .split_k = {}}).error().message,
      "default is not timed here");
}

// PyTorch takes a file whose validators are its own, all of them and no other; of one name the last counts.
TEST_F(TunedFiles, ThatAreThereHaveTheSameValidators) {
  const std::string asked = "Validator,PT_VERSION,2.14.0\nValidator,CUDA_DEVICE,9.0:NVIDIA H200\n";
  task.validators = folder.write("validators.csv", asked);
  folder.write("results0.csv", "Validator,PT_VERSION,2.14.0\n");
  EXPECT_THAT(refusal(),
              HasSubstr("results0.csv' is for CUDA_DEVICE none, wanted 9.0:NVIDIA H200: write another file"));
  folder.write("results0.csv", asked + "Validator,ROCM_VERSION,6\n");
  EXPECT_THAT(refusal(), HasSubstr("is for ROCM_VERSION 6, wanted none"));
  folder.write("results0.csv", "Validator,PT_VERSION,2.9.0\n" + asked);
  open();
}

TEST_F(TunedFiles, SayWhatCouldNotBeWritten) {
  product.choice.params["algorithm"] = 7;
  EXPECT_EQ(written("2.14.0"), "Validator,PT_VERSION,2.14.0\n");
  EXPECT_EQ(product.solution, "");
  EXPECT_EQ(product.reason, "faster than the default; not written: it offers four");
}

TEST_F(TunedFiles, AreOfStacksThatRunThere) {
  for (const char* format : {"hipblaslt", "aiter", "gradlib"}) {
    task.format = format;
    EXPECT_THAT(refusal(),
                StartsWith(std::string("format ") + format + ": got the device cuda:0, wanted a GPU of AMD's"));
  }
  task.format = "tunableop";
  task.validators = folder.write("validators.csv", "Validator,PT_VERSION,2.11.0\nValidator,GCN_ARCH_NAME,gfx942\n");
  EXPECT_EQ(refusal(), "PyTorch's validators are for gfx942, this device is sm_90");
}

}  // namespace
}  // namespace rung::stacks

// What a program that rung is part of finds as it was: its environment, and an OpenBLAS of its own. Each case is a run
// of this program.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/program.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/openblas.hpp"
#include "kernels/target.hpp"

extern char** environ;

namespace rung::tasks {
namespace {

std::string environment() {
  std::string text;
  for (char** entry = environ; *entry; ++entry) text += std::string(*entry) + "\n";
  return text;
}

int threads_of(void* openblas) {
  int (*threads)() = nullptr;
  *reinterpret_cast<void**>(&threads) = dlsym(openblas, "openblas_get_num_threads");
  return threads ? threads() : -1;
}

// As a session does whose plan multiplies by it.
void prepare_to_multiply() {
  const Kernel* row = cpu_target().kernel_named("linear_openblas");
  ASSERT_NE(row, nullptr);
  row->prepare({}, cpu_target().machine);
}

TEST(InAHost, DISABLED_OpensOpenBlasItself) {
  const std::string before = environment();
  prepare_to_multiply();
  EXPECT_EQ(environment(), before);
  void* blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(blas, nullptr) << "rung opened it";
  fmt::print(stderr, "{}\n", threads_of(blas));
}

TEST(InAHost, DISABLED_FindsItsOpenBlas) {
  void* blas = dlopen("libopenblas.so.0", RTLD_NOW);
  ASSERT_NE(blas, nullptr);
  void (*set_threads)(int) = nullptr;
  *reinterpret_cast<void**>(&set_threads) = dlsym(blas, "openblas_set_num_threads");
  set_threads(3);
  prepare_to_multiply();
  fmt::print(stderr, "{}\n", threads_of(blas));
}

class Host : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto& blas = cpu::gemm::openblas(); !blas) GTEST_SKIP() << blas.error().message;
  }
  void TearDown() override { unsetenv("OPENBLAS_NUM_THREADS"); }
  static std::string said_by(const std::string& test) {
    auto ended =
        run_program(kThisProgram, {"--gtest_also_run_disabled_tests", "--gtest_filter=InAHost.DISABLED_" + test}, 120);
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->exit_code, 0) << ended->how << ": " << ended->errors;
    return ended->errors;
  }
};

TEST_F(Host, OpensOneThreadedOpenBlasKeepingItsEnvironment) {
  setenv("OPENBLAS_NUM_THREADS", "2", 1);
  EXPECT_EQ(said_by("OpensOpenBlasItself"), "1\n");
}

TEST_F(Host, KeepsAnAlreadyLoadedOpenBlassThreads) { EXPECT_EQ(said_by("FindsItsOpenBlas"), "3\n"); }

}  // namespace
}  // namespace rung::tasks

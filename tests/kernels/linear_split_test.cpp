// How threads share the rows and columns of packed products.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/cpu/linear/packed.hpp"
#include "linear_case.hpp"

namespace rung::cpu {
namespace {

int64_t row_threads(const LinearCase& of, const gemm::MicroKernels& micro) {
  return gemm::PackedPlan(problem_of(of), micro, Machine(cpu_info())).row_threads;
}

TEST(LinearSplit, SharesRowsWhereThreadsHaveEnough) {
  LinearCase of{.m = 128, .n = 2304, .k = 768, .threads = 2};
  EXPECT_EQ(row_threads(of, gemm::kAvx512F32x32), 2);
  of.threads = 4;
  EXPECT_EQ(row_threads(of, gemm::kAvx512F32x32), 2) << "32 rows for each would wait for weights";
  of.m = 1500;
  EXPECT_EQ(row_threads(of, gemm::kAvx512F32x32), 4);
}

TEST(LinearSplit, SharesColumnsOfFewRows) {
  for (const int64_t m : {1, 16, 64}) {
    const LinearCase of{.m = m, .n = 2304, .k = 768, .threads = 2};
    EXPECT_EQ(row_threads(of, gemm::kAvx512F32x32), 1) << m;
  }
}

// Pairs of bf16 take half the time and half the bytes.
TEST(LinearSplit, SharesPairsAsFloats) {
  LinearCase of{.m = 64, .n = 2304, .k = 768, .x = DType::bf16, .w = DType::bf16, .threads = 2};
  EXPECT_EQ(row_threads(of, gemm::kAvx512DotBf16x32), 1);
  of.m = 128;
  EXPECT_EQ(row_threads(of, gemm::kAvx512DotBf16x32), 2);
}

TEST(LinearSplit, IsWhatARecipeAsksFor) {
  LinearCase of{.m = 128, .n = 2304, .k = 768, .threads = 2};
  of.params["row_threads"] = 1;
  EXPECT_EQ(row_threads(of, gemm::kAvx512F32x32), 1);
}

}  // namespace
}  // namespace rung::cpu

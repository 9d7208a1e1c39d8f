// Softmax on processors makes no denormals of scores that lie far apart: each would cost a hundred normal operations.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfenv>

#include "harness.hpp"
#include "kernels/target.hpp"

namespace rung::test {
namespace {

class SoftmaxRow : public ::testing::TestWithParam<const char*> {};

// One thread is the caller's, and so are its exception flags.
TEST_P(SoftmaxRow, MakesNoDenormals) {
  const Case test = make_case(GetParam());
  int supported = 0;
  for (const Kernel* row : cpu::all_kernels()) {
    const bool is_fallback = row->role == Role::fallback;
    if (is_fallback || op_family(test.problem.op) != row->op || !row->supports(test.problem, cpu::cpu_info())) continue;
    ++supported;
    std::feclearexcept(FE_ALL_EXCEPT);
    const Outcome outcome = run_row(*row, test, 1);
    EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW)) << row->name;
    EXPECT_EQ(difference(outcome.outputs, test), "") << row->name;
  }
  EXPECT_GT(supported, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, SoftmaxRow,
    ::testing::Values(
        "result = softmax(far:f32[7,300])",
        "result = attention(q:f32[1,9,2,32], far:f32[1,1,9,300], k:f32[1,300,2,32], v:f32[1,300,2,32], "
        "slots=mask, scale=0.17677669)",
        "result = attention(q:bf16[1,9,2,32], far:f32[1,1,9,300], k:bf16[1,300,2,32], v:bf16[1,300,2,32], "
        "slots=mask, scale=0.17677669)"));

}  // namespace
}  // namespace rung::test

// The operands that candidates are tried on.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/trial.hpp"

#include <algorithm>

#include "support.hpp"

namespace rung {
namespace {

TEST(TrialOperands, AreSuchThatEveryResultIsANumber) {
  Problem problem = linear_problem(4, 8, 64);
  std::get<Linear>(problem.op).normed = true;
  problem.inputs.push_back(dense(DType::f32, {4, 4}));
  const auto least = [&](size_t i) {
    Tensor values = random_operand(problem, i, INT64_MAX);
    return *std::min_element(values.as<float>().begin(), values.as<float>().end());
  };
  EXPECT_LT(least(0), 0.0f);
  EXPECT_LT(least(1), 0.0f);
  EXPECT_GE(least(2), 0.0f);  // squares
}

}  // namespace
}  // namespace rung

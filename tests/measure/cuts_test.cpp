// CutErrors: the candidate of the least squared error over all that was added.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cuts.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rung {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(CutErrors, ChooseTheLeastSum) {
  CutErrors errors;
  errors.add(std::array<float, 6>{9, 3, 2, 1, 5, 9});
  EXPECT_EQ(errors.best(), kCuts[3]);
  errors.add(std::array<float, 6>{9, 3, 2, 8, 5, 9});
  EXPECT_EQ(errors.best(), kCuts[2]);
}

TEST(CutErrors, CutNothingWithoutAReason) {
  EXPECT_EQ(CutErrors().best(), 1);
  CutErrors equal, unknown;
  equal.add(std::array<float, 6>{2, 2, 2, 2, 2, 2});
  EXPECT_EQ(equal.best(), 1);
  unknown.add(std::array<float, 6>{9, 3, 2, 1, 5, kInfinite});
  EXPECT_EQ(unknown.best(), 1);
}

}  // namespace
}  // namespace rung

// How numbers are written.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rung::words {
namespace {

TEST(Words, KeepsThreeDigits) {
  EXPECT_EQ(significant(40.12), "40.1");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(0.0123456), "0.0123");
  EXPECT_EQ(significant(1234.5), "1,230");
  EXPECT_EQ(significant(1.234e-7), "1.23e-7");
  EXPECT_EQ(significant(-1.5e9), "-1.50e9");
  EXPECT_EQ(significant(0), "0");
}

TEST(Words, GroupsThousands) {
  EXPECT_EQ(fixed(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(fixed(-1234, 0), "-1,234");
  EXPECT_EQ(fixed(123, 1), "123.0");
  EXPECT_EQ(count(3000), "3,000");
}

TEST(Words, WritesADashForNonFiniteNumbers) {
  for (double bad : {NAN, INFINITY, -INFINITY}) {
    EXPECT_EQ(fixed(bad, 2), kNone);
    EXPECT_EQ(significant(bad), kNone);
    EXPECT_EQ(scientific(bad), kNone);
    EXPECT_EQ(percent(bad), kNone);
    EXPECT_EQ(duration_ms(bad), kNone);
    EXPECT_EQ(ratio(bad), kNone);
    EXPECT_EQ(megabytes(bad), kNone);
  }
}

TEST(Words, ChoosesTheUnitOfATime) {
  EXPECT_EQ(duration_ms(9.38), "9.38 ms");
  EXPECT_EQ(duration_ms(0.0842), "84.2 µs");
  EXPECT_EQ(duration_ms(12500), "12.5 s");
}

TEST(Words, WritesOneDecimalForPercentsBelowTen) {
  EXPECT_EQ(percent(0.6234), "62 %");
  EXPECT_EQ(percent(0.0412), "4.1 %");
  EXPECT_EQ(percent(0.0996), "10 %");
  EXPECT_EQ(percent(0.0001), "<0.1 %");
  EXPECT_EQ(percent(0), "0 %");
}

TEST(Words, ErrorsAreShortPowersOfTen) {
  EXPECT_EQ(scientific(3.14e-7), "3.1e-7");
  EXPECT_EQ(scientific(0), "0");
}

TEST(Words, OneThingIsSingular) {
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(3000, "run"), "3,000 runs");
  EXPECT_EQ(counted(1, "launch", "launches"), "1 launch");
  EXPECT_EQ(counted(2, "launch", "launches"), "2 launches");
}

TEST(Words, DecimalsFollowTheLeastValueOfAColumn) {
  EXPECT_EQ(decimals_for(std::vector<double>{40.12, 9.38}), 2);
  EXPECT_EQ(decimals_for(std::vector<double>{400, 120}), 0);
  EXPECT_EQ(decimals_for(std::vector<double>{1e-9, NAN, 0}), 4);
  EXPECT_EQ(decimals_for({}), 0);
}

}  // namespace
}  // namespace rung::words

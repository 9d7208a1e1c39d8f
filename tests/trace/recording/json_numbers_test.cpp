// Numbers as traces write them.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung::trace {
namespace {

using testing::Eq;
using testing::Optional;

TEST(JsonNumbers, WholeNumbersAndStringsOfThem) {
  EXPECT_THAT(integer_of("0"), Optional(0));
  EXPECT_THAT(integer_of("-7"), Optional(-7));
  EXPECT_THAT(integer_of("\"42\""), Optional(42));
  EXPECT_THAT(integer_of("9223372036854775807"), Optional(INT64_MAX));
  EXPECT_THAT(integer_of("-9223372036854775808"), Optional(INT64_MIN));
  for (const char* text :
       {"", "\"\"", "1.0", "1e3", "+1", " 1", "1 ", "0x10", "9223372036854775808", "null", "[1]", "\"1", "-"})
    EXPECT_THAT(integer_of(text), Eq(std::nullopt)) << text;
}

TEST(JsonNumbers, MicrosecondsBecomeTheNearestNanosecond) {
  EXPECT_THAT(ns_of_us("0"), Optional(0));
  EXPECT_THAT(ns_of_us("12"), Optional(12000));
  EXPECT_THAT(ns_of_us("12."), Optional(12000));
  EXPECT_THAT(ns_of_us("12.3"), Optional(12300));
  EXPECT_THAT(ns_of_us("12.345"), Optional(12345));
  EXPECT_THAT(ns_of_us("12.3454"), Optional(12345));
  EXPECT_THAT(ns_of_us("12.3455"), Optional(12346));
  EXPECT_THAT(ns_of_us("12.34549999"), Optional(12345));
  EXPECT_THAT(ns_of_us("0.9999"), Optional(1000));
  EXPECT_THAT(ns_of_us("-0.5"), Optional(-500));
  EXPECT_THAT(ns_of_us("\"1.5\""), Optional(1500));
  EXPECT_THAT(ns_of_us("000012.5"), Optional(12500));
}

TEST(JsonNumbers, ExponentsAreRead) {
  EXPECT_THAT(ns_of_us("1e3"), Optional(1'000'000));
  EXPECT_THAT(ns_of_us("1.5E-3"), Optional(2));
  EXPECT_THAT(ns_of_us("-2.5e+1"), Optional(-25'000));
}

TEST(JsonNumbers, TimesSince1970LoseNothing) {
  EXPECT_THAT(ns_of_us("1790857026123456.789"), Optional(1790857026123456789));
}

TEST(JsonNumbers, WhatIsNoTimeIsNone) {
  for (const char* text : {"", "\"\"", "-", ".5", "+1", "1,5", "1.2.3", "1e", "1e400", "e5", "NaN", "Infinity",
                           "-Infinity", "null", "[1]", "3200000000000000", "99999999999999999999", "1 ", "0x1"})
    EXPECT_THAT(ns_of_us(text), Eq(std::nullopt)) << text;
  EXPECT_THAT(ns_of_us("3100000000000000"), Optional(3'100'000'000'000'000'000));  // 98 years
}

}  // namespace
}  // namespace rung::trace

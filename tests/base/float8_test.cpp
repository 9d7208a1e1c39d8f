// Floats of 8 bits: every code is the value that its format's words say, every float the nearest code.
// SPDX-License-Identifier: Apache-2.0
#include "base/float8.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rung {
namespace {

template <class F>
float value_of(uint32_t code) {
  F x;
  x.bits = static_cast<uint8_t>(code);
  return static_cast<float>(x);
}

// Written out from the formats' tables: the least and largest numbers, one, and how many codes are what.
struct Facts {
  float least, least_normal, most;
  uint32_t one;
  int nans, infinities;
};
template <class F>
struct Format {
  using Type = F;
  static Facts facts();
};
template <>
Facts Format<f8e4m3fn>::facts() {
  return {0x1p-9f, 0x1p-6f, 448, 0x38, 2, 0};
}
template <>
Facts Format<f8e5m2>::facts() {
  return {0x1p-16f, 0x1p-14f, 57344, 0x3c, 6, 2};
}
template <>
Facts Format<f8e4m3fnuz>::facts() {
  return {0x1p-10f, 0x1p-7f, 240, 0x40, 1, 0};
}
template <>
Facts Format<f8e5m2fnuz>::facts() {
  return {0x1p-17f, 0x1p-15f, 57344, 0x40, 1, 0};
}

template <class F>
class Float8Formats : public ::testing::Test {};
using Formats = ::testing::Types<Format<f8e4m3fn>, Format<f8e5m2>, Format<f8e4m3fnuz>, Format<f8e5m2fnuz>>;
TYPED_TEST_SUITE(Float8Formats, Formats);

TYPED_TEST(Float8Formats, HaveTheNumbersOfTheirTables) {
  using F = typename TypeParam::Type;
  const Facts facts = TypeParam::facts();
  int nans = 0, infinities = 0;
  float most = 0, last = -1;
  for (uint32_t code = 0; code < 256; ++code) {
    const float x = value_of<F>(code);
    nans += std::isnan(x), infinities += std::isinf(x);
    if (!std::isfinite(x)) continue;
    EXPECT_EQ(std::signbit(x), code >= 0x80) << code;
    most = std::max(most, x);
    if (code < 0x80) {
      EXPECT_GT(x, last) << code << ": codes are in the order of their values";
      last = x;
      const float opposite = value_of<F>(code | 0x80);
      EXPECT_TRUE(opposite == -x || std::isnan(opposite)) << code;
    }
  }
  EXPECT_EQ(nans, facts.nans);
  EXPECT_EQ(infinities, facts.infinities);
  EXPECT_EQ(most, facts.most);
  EXPECT_EQ(value_of<F>(1), facts.least);
  EXPECT_EQ(value_of<F>(facts.one), 1.0f);
  const uint32_t first_normal = static_cast<uint32_t>(facts.least_normal / facts.least);
  EXPECT_EQ(value_of<F>(first_normal), facts.least_normal);
  EXPECT_EQ(value_of<F>(first_normal + 1), facts.least_normal + facts.least);
}

TYPED_TEST(Float8Formats, AreWhatTheirOwnValuesBecome) {
  using F = typename TypeParam::Type;
  for (uint32_t code = 0; code < 256; ++code) {
    const float x = value_of<F>(code);
    EXPECT_TRUE(F(x).bits == code || !std::isfinite(x)) << code;
  }
}

// Between two neighbours: the nearer one, and at the middle the even one; above the largest number that one.
TYPED_TEST(Float8Formats, TakeTheNearestNumber) {
  using F = typename TypeParam::Type;
  for (uint32_t code = 0; value_of<F>(code) < TypeParam::facts().most; ++code) {
    const float low = value_of<F>(code), high = value_of<F>(code + 1), middle = low + (high - low) / 2;
    EXPECT_EQ(F(middle).bits, code % 2 == 0 ? code : code + 1) << middle;
    EXPECT_EQ(F(std::nextafter(middle, 0.0f)).bits, code) << middle;
    EXPECT_EQ(F(std::nextafter(middle, HUGE_VALF)).bits, code + 1) << middle;
    EXPECT_EQ(F(-std::nextafter(middle, HUGE_VALF)).bits, code + 1 + 0x80) << middle;
  }
}

TYPED_TEST(Float8Formats, Saturate) {
  using F = typename TypeParam::Type;
  const float most = TypeParam::facts().most;
  for (const float x : {std::nextafter(most, HUGE_VALF), most * 1.5f, std::numeric_limits<float>::max(), HUGE_VALF}) {
    EXPECT_EQ(static_cast<float>(F(x)), most) << x;
    EXPECT_EQ(static_cast<float>(F(-x)), -most) << x;
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(F(NAN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(F(-NAN))));
}

TYPED_TEST(Float8Formats, KeepTheSignOfZeroWherePossible) {
  using F = typename TypeParam::Type;
  const uint32_t minus_zero = TypeParam::facts().nans == 1 ? 0x00 : 0x80;  // where 0x80 is the one NaN
  for (const float x : {-0.0f, -TypeParam::facts().least / 2, -std::numeric_limits<float>::denorm_min()})
    EXPECT_EQ(F(x).bits, minus_zero) << x;
  for (const float x : {0.0f, TypeParam::facts().least / 2, std::numeric_limits<float>::denorm_min()})
    EXPECT_EQ(F(x).bits, 0) << x;
}

}  // namespace
}  // namespace rung

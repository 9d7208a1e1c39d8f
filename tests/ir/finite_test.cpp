// NaN and infinities are counted apart, in every float type and at any position of a block.
// SPDX-License-Identifier: Apache-2.0
#include "ir/finite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace rung {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(CheckFinite, NamesTheTensorAndBothCounts) {
  Tensor t = Tensor::of<float>({5}, {1.0f, NAN, -kInfinity, kInfinity, -NAN});
  auto status = check_finite("weight 'encoder.w'", t);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("weight 'encoder.w' f32[5]: got 2 NaN and 2 infinite values"));
}

TEST(CheckFinite, AcceptsExtremeFiniteValues) {
  auto max = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(check_finite("x", Tensor::of<float>({4}, {max, -max, tiny, 0.0f})));
  EXPECT_TRUE(check_finite("x", Tensor::of<f16>({2}, {f16(65504.0f), f16(-0.0f)})));
}

TEST(CountNonFinite, CountsEveryNanOfEightBits) {
  std::array<std::byte, 256> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  EXPECT_EQ(count_non_finite({DType::f8e4m3fn, {256}}, all.data()).nan, 2) << "0x7f and 0xff";
  EXPECT_EQ(count_non_finite({DType::f8e4m3fnuz, {256}}, all.data()).nan, 1) << "0x80";
}

TEST(CheckInputFloats, TakesMinusInfinityOfMasksAlone) {
  const Tensor mask = Tensor::of<float>({3}, {0, -kInfinity, -1});
  EXPECT_TRUE(check_input_floats("input 'm'", mask, [] { return Tolerates::minus_infinity; }));
  auto refused = check_input_floats("input 'm'", mask, [] { return Tolerates::numbers; });
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      refused.error().message,
      testing::HasSubstr("input 'm' f32[3]: got 0 NaN and 1 infinite values, 1 of them -inf, wanted none; -inf is "
                         "for masks: where adding, "));
}

TEST(CheckInputFloats, TakesNothingElseOfMasksEither) {
  for (float bad : {NAN, kInfinity}) {
    auto refused = check_input_floats("input 'm'", Tensor::of<float>({3}, {bad, -kInfinity, 0}),
                                      [] { return Tolerates::minus_infinity; });
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().message, testing::HasSubstr("1 of them -inf, wanted none but -inf")) << bad;
    EXPECT_FALSE(check_input_floats("input 'm'", Tensor::of<float>({2}, {bad, 0}), [] {
      return Tolerates::minus_infinity;
    })) << bad;
  }
}

TEST(CheckInputFloats, AsksForMasksOnlyWhereItMatters) {
  auto never = [] { return ADD_FAILURE() << "asked", Tolerates::all; };
  EXPECT_TRUE(check_input_floats("x", Tensor::of<float>({2}, {1, 2}), never));
}

TEST(CheckInputFloats, TakesAnyFloatThatStaysApart) {
  const Tensor odd = Tensor::of<float>({3}, {NAN, kInfinity, -kInfinity});
  EXPECT_TRUE(check_input_floats("x", odd, [] { return Tolerates::all; }));
}

template <class T>
class CountNonFinite : public testing::Test {};
using Floats = testing::Types<float, f16, bf16>;
TYPED_TEST_SUITE(CountNonFinite, Floats);

TYPED_TEST(CountNonFinite, SeesEveryValueAcrossBlockBoundaries) {
  std::vector<TypeParam> values(10000, TypeParam(1.5f));
  for (size_t i : {0u, 4095u, 4096u, 9999u}) values[i] = TypeParam(NAN);
  for (size_t i : {1u, 8191u, 8192u}) values[i] = TypeParam(-kInfinity);
  auto counts = count_non_finite(Tensor::of<TypeParam>({10000}, values));
  EXPECT_EQ(counts.nan, 4);
  EXPECT_EQ(counts.infinity, 3);
  EXPECT_EQ(counts.minus_infinity, 3);
}

TYPED_TEST(CountNonFinite, CountsATensorWithNothingElse) {
  auto counts = count_non_finite(Tensor::of<TypeParam>({100000}, std::vector<TypeParam>(100000, TypeParam(kInfinity))));
  EXPECT_EQ(counts.infinity, 100000);
  EXPECT_EQ(counts.minus_infinity, 0);
  EXPECT_EQ(counts.nan, 0);
}

TEST(CountNonFinite, IsZeroForIntegers) { EXPECT_EQ(count_non_finite(Tensor::of<int32_t>({1}, {0x7fc00000})).nan, 0); }

}  // namespace
}  // namespace rung

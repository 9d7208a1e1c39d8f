// The judge's verdict: what fails, why, and that nothing passes by accident.
// SPDX-License-Identifier: Apache-2.0
#include "measure/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

Tensor f32(Shape shape, const std::vector<float>& values) { return Tensor::of<float>(shape, values); }
const Tolerance kTight{1e-6, 1e-5};

TEST(Comparison, StartsAsFailed) {
  Comparison fresh;
  EXPECT_FALSE(fresh.passed || fresh.same_count || fresh.same_shape || fresh.same_dtype);
  EXPECT_EQ(fresh.non_finite, SIZE_MAX);
  EXPECT_EQ(fresh.rel_l2, INFINITY);
  EXPECT_EQ(fresh.cosine, -1);
  EXPECT_FALSE(fresh.reason.empty());
  EXPECT_FALSE(Verification{}.passed);
}

TEST(Compare, PassesEqualTensors) {
  Tensor x = f32({2, 2}, {1, -2, 3, 0});
  Comparison result = compare("y", x, x, {});
  EXPECT_TRUE(result.passed) << result.reason;
  EXPECT_EQ(result.name, "y");
  EXPECT_EQ(result.rel_l2, 0);
  EXPECT_EQ(result.max_abs, 0);
  EXPECT_EQ(result.max_ulp, 0);
  EXPECT_EQ(result.non_finite, 0u);
  EXPECT_EQ(result.cosine, 1);
  EXPECT_EQ(result.reason, "");
}

TEST(Compare, MeasuresTheError) {
  Comparison result = compare("y", f32({2}, {3.5f, 4}), f32({2}, {3, 4}), {0.2, 0.2});
  EXPECT_TRUE(result.passed) << result.reason;
  EXPECT_DOUBLE_EQ(result.rel_l2, 0.1);
  EXPECT_EQ(result.max_abs, 0.5);
  EXPECT_EQ(result.max_ulp, 0.5 / 0x1p-22);
  EXPECT_NEAR(result.cosine, 26.5 / (5 * std::sqrt(28.25)), 1e-12);
  EXPECT_DOUBLE_EQ(result.worst_element, 0.5 / std::sqrt(12.5));
}

TEST(Compare, FailsAnotherShapeOfTheSameCount) {
  Comparison result = compare("y", f32({1, 2}, {1, 2}), f32({2}, {1, 2}), kTight);
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(result.same_count);
  EXPECT_FALSE(result.same_shape);
  EXPECT_EQ(result.reason, "got f32[1,2], wanted f32[2]");
}

TEST(Compare, FailsAnotherCount) {
  Comparison result = compare("y", f32({1}, {1}), f32({2}, {1, 2}), kTight);
  EXPECT_FALSE(result.passed || result.same_count || result.same_shape);
}

TEST(Compare, FailsAnotherDtype) {
  Tensor x = f32({1}, {1});
  Comparison result = compare("y", convert(x, DType::bf16), x, kTight);
  EXPECT_FALSE(result.passed || result.same_dtype);
  EXPECT_EQ(result.reason, "got bf16[1], wanted f32[1]");
}

TEST(Compare, FailsNonFiniteValuesEvenWithoutLimits) {
  Tolerance anything{INFINITY, INFINITY};
  Comparison result = compare("y", f32({3}, {NAN, INFINITY, 1}), f32({3}, {1, 1, 1}), anything);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.non_finite, 2u);
  EXPECT_EQ(compare("y", f32({3}, {-NAN, INFINITY, 1}), f32({3}, {1, 1, 1}), anything).reason, result.reason);
  EXPECT_EQ(result.reason,
            "element [0]: got nan, wanted 1; 2 of 3 elements are a number in one and not in the other, or not alike");
  EXPECT_EQ(result.rel_l2, INFINITY);
}

TEST(Compare, HoldsWhatIsNoNumberToItsPlace) {
  const float inf = INFINITY;
  const Tensor want = f32({2, 3}, {1, NAN, 2, inf, -inf, 3});
  Comparison same = compare("y", want, want, {});
  EXPECT_TRUE(same.passed) << same.reason;
  EXPECT_EQ(same.non_finite, 3u);
  EXPECT_EQ(same.rel_l2, 0);
  const std::tuple<size_t, float, const char*> wrong[] = {
      {0, NAN, "[0,0]: got nan, wanted 1;"},     {1, 0, "[0,1]: got 0, wanted nan;"},
      {1, inf, "[0,1]: got inf, wanted nan;"},   {3, 9, "[1,0]: got 9, wanted inf;"},
      {3, -inf, "[1,0]: got -inf, wanted inf;"}, {4, NAN, "[1,1]: got nan, wanted -inf;"},
      {4, inf, "[1,1]: got inf, wanted -inf;"}};
  for (auto [at, value, reason] : wrong) {
    Tensor got = f32({2, 3}, {1, NAN, 2, inf, -inf, 3});
    got.as<float>()[at] = value;
    Comparison result = compare("y", got, want, {INFINITY, INFINITY});
    EXPECT_FALSE(result.passed) << at << ": " << value;
    EXPECT_THAT(result.reason, HasSubstr(std::string("element ") + reason)) << at;
    EXPECT_THAT(result.reason, HasSubstr("1 of 6 elements"));
  }
}

TEST(Compare, MeasuresTheNumbersBesideWhatIsNone) {
  Comparison with = compare("y", f32({4}, {3.5f, NAN, 4, -INFINITY}), f32({4}, {3, NAN, 4, -INFINITY}), {0.2, 0.2});
  Comparison without = compare("y", f32({2}, {3.5f, 4}), f32({2}, {3, 4}), {0.2, 0.2});
  EXPECT_TRUE(with.passed) << with.reason;
  EXPECT_EQ(with.rel_l2, without.rel_l2);
  EXPECT_EQ(with.max_abs, without.max_abs);
  EXPECT_EQ(with.max_ulp, without.max_ulp);
  EXPECT_EQ(with.cosine, without.cosine);
  EXPECT_EQ(with.worst_element, without.worst_element);
  EXPECT_FALSE(compare("y", f32({3}, {3.5f, NAN, 4}), f32({3}, {3, NAN, 4}), {0.05, 1}).passed);
}

TEST(Compare, FailsWhenTheReferenceProvesNothing) {
  Tolerance anything{INFINITY, INFINITY};
  for (float none : {NAN, INFINITY, -INFINITY})
    EXPECT_EQ(compare("y", f32({2}, {none, none}), f32({2}, {none, none}), anything).reason,
              "the reference holds no number to compare");
  EXPECT_FALSE(compare("y", Tensor(), Tensor(), anything).passed);
  EXPECT_EQ(compare("y", Tensor(), f32({1}, {1}), anything).reason, "the result is missing");
}

TEST(Compare, NothingEqualsNothingOfItsTypeAlone) {
  const Comparison nothing = compare("y", f32({2, 0}, {}), f32({2, 0}, {}), {});
  EXPECT_TRUE(nothing.passed) << nothing.reason;
  EXPECT_EQ(nothing.non_finite, 0u);
  EXPECT_EQ(nothing.rel_l2, 0);
  EXPECT_EQ(nothing.max_abs, 0);
  EXPECT_EQ(nothing.cosine, 1);
  const Tolerance anything{INFINITY, INFINITY};
  EXPECT_EQ(compare("y", f32({2, 0}, {}), f32({0}, {}), anything).reason, "got f32[2,0], wanted f32[0]");
  EXPECT_EQ(compare("y", f32({0}, {}), f32({1}, {1}), anything).reason, "got f32[0], wanted f32[1]");
  EXPECT_EQ(compare("y", f32({1}, {1}), f32({0}, {}), anything).reason, "got f32[1], wanted f32[0]");
  EXPECT_FALSE(compare("y", f32({0}, {}), Tensor({DType::i64, {0}}), anything).passed);
}

TEST(Compare, FailsANanTolerance) {
  EXPECT_FALSE(compare("y", f32({1}, {1}), f32({1}, {1}), {NAN, 1}).passed);
  EXPECT_FALSE(compare("y", f32({1}, {1}), f32({1}, {1}), {1, NAN}).passed);
}

TEST(Compare, FailsOneWrongElementAmongAMillion) {
  Tensor want({DType::f32, {1000000}}), got({DType::f32, {1000000}});
  for (size_t i = 0; i < 1000000; ++i) want.as<float>()[i] = got.as<float>()[i] = random_normal(1, i);
  got.as<float>()[5000] += 1e-4f;
  Comparison result = compare("y", got, want, tolerance_for(DType::f32, 1));
  EXPECT_LT(result.rel_l2, tolerance_for(DType::f32, 1).rel_l2);
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.reason, HasSubstr("worst element"));
}

TEST(Compare, HoldsElementsToTheirOwnOrUsualSize) {
  EXPECT_DOUBLE_EQ(compare("y", f32({2}, {1, 8.5f}), f32({2}, {1, 8}), {1, 1}).worst_element, 0.5 / 8);
  EXPECT_DOUBLE_EQ(compare("y", f32({2}, {1.5f, 7}), f32({2}, {1, 7}), {1, 1}).worst_element, 0.5 / 5);
}

TEST(Compare, FailsOneBitOfEveryExactType) {
  Tensor off = Tensor::of<int64_t>({2}, {0, 0}), on = Tensor::of<int64_t>({2}, {0, 1});
  for (DType dtype : {DType::i64, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    EXPECT_TRUE(compare("y", convert(on, dtype), convert(on, dtype), {}).passed) << name_of(dtype);
    EXPECT_FALSE(compare("y", convert(on, dtype), convert(off, dtype), {INFINITY, INFINITY}).passed) << name_of(dtype);
    EXPECT_FALSE(compare("y", convert(off, dtype), convert(on, dtype), {INFINITY, INFINITY}).passed) << name_of(dtype);
  }
}

TEST(Compare, ReadsFloatsOfEightBits) {
  const Tensor one = convert(f32({2}, {1, 1}), DType::f8e4m3fn), next = convert(f32({2}, {1, 1.125f}), DType::f8e4m3fn);
  EXPECT_TRUE(compare("y", one, one, kTight).passed);
  const Comparison apart = compare("y", next, one, {INFINITY, INFINITY});
  EXPECT_EQ(apart.max_ulp, 1);
  EXPECT_EQ(apart.max_abs, 0.125);
}

TEST(Compare, FailsAnythingButZeroAgainstZeros) {
  EXPECT_TRUE(compare("y", f32({2}, {0, 0}), f32({2}, {0, 0}), kTight).passed);
  EXPECT_FALSE(compare("y", f32({2}, {0, 1e-30f}), f32({2}, {0, 0}), kTight).passed);
}

TEST(Compare, FailsNonzeroValuesAgainstZerosAtAnyTolerance) {
  Tolerance anything{INFINITY, INFINITY};
  EXPECT_TRUE(compare("y", f32({2}, {0, -0.0f}), f32({2}, {0, 0}), anything).passed);
  EXPECT_EQ(compare("y", f32({2}, {0, 0.5f}), f32({2}, {0, 0}), anything).reason,
            "the reference is all zeros: got values up to 0.5, wanted zeros");
}

TEST(Compare, HoldsIntegersToEqualityWhateverTheTolerance) {
  Tolerance wide{1, 1};
  Tensor want = Tensor::of<int64_t>({2}, {1000, 7}), got = Tensor::of<int64_t>({2}, {1001, 7});
  EXPECT_TRUE(compare("ids", want, want, wide).passed);
  Comparison result = compare("ids", got, want, wide);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.max_ulp, 1);
}

TEST(Compare, CountsUlpsInTheResultsOwnType) {
  Tensor want = convert(f32({2}, {1, -1}), DType::bf16), got = convert(f32({2}, {1.0078125f, -1}), DType::bf16);
  EXPECT_EQ(compare("y", got, want, {1, 1}).max_ulp, 1);
  // The smallest numbers on both sides of zero are two steps apart.
  EXPECT_EQ(compare("y", f32({1}, {-1e-45f}), f32({1}, {1e-45f}), {9, 9}).max_ulp, 2);
}

double sequential_error(size_t terms, bool positive) {
  Tensor got({DType::f32, {200}}), want({DType::f32, {200}});
  for (size_t i = 0; i < 200; ++i) {
    float narrow = 0;
    double wide = 0;
    for (size_t k = 0; k < terms; ++k) {
      float a = random_normal(7, i * terms + k), b = random_normal(8, i * terms + k);
      float term = positive ? std::abs(a * b) : a * b;
      narrow += term, wide += double{term};
    }
    got.as<float>()[i] = narrow, want.as<float>()[i] = static_cast<float>(wide);
  }
  return compare("sum", got, want, {}).rel_l2;
}

TEST(ToleranceFor, AdmitsPlainF32SumsAndLittleMore) {
  for (size_t terms : {16, 384, 4096})
    for (bool positive : {false, true}) {
      double error = sequential_error(terms, positive), limit = tolerance_for(DType::f32, int64_t(terms)).rel_l2;
      EXPECT_LT(error, limit) << terms;
      EXPECT_GT(error * 50, limit) << terms;
    }
}

TEST(ToleranceFor, FollowsTheResultsPrecision) {
  EXPECT_NEAR(tolerance_for(DType::bf16, 1).rel_l2, 0x1p-8, 1e-6);
  EXPECT_NEAR(tolerance_for(DType::f16, 1).rel_l2, 0x1p-11, 1e-6);
  EXPECT_EQ(tolerance_for(DType::i64, 100).rel_l2, 0);
  EXPECT_DOUBLE_EQ(low_precision_tolerance(0.01).rel_l2, 0.0125);
}

TEST(VerifyOutputs, PassesOnlyIfEveryOutputDoes) {
  Tensor a = f32({1}, {1}), b = f32({1}, {2});
  Verification good = verify_outputs({"x", "y"}, {a, b}, {a, b}, kTight);
  EXPECT_TRUE(good.passed) << good.reason;
  EXPECT_EQ(good.outputs.size(), 2u);
  Verification bad = verify_outputs({"x", "y"}, {a, a}, {a, b}, kTight);
  EXPECT_FALSE(bad.passed);
  EXPECT_THAT(bad.reason, HasSubstr("y: relative L2 error 0.5"));
}

TEST(ToleranceFor, GivesElementsTwiceRoundingAndFourfoldSum) {
  const double sum = (4 + std::sqrt(100.0)) * 0x1p-24;
  EXPECT_DOUBLE_EQ(tolerance_for(DType::f32, 100).rel_l2, 0x1p-24 + sum);
  EXPECT_DOUBLE_EQ(tolerance_for(DType::f32, 100).element, 2 * 0x1p-24 + 4 * sum);
  EXPECT_DOUBLE_EQ(tolerance_for(DType::bf16, 100).element, 2 * 0x1p-8 + 4 * sum);
  EXPECT_EQ(tolerance_for(DType::boolean, 100).element, 0);
}

TEST(VerifyOutputs, FailsWhicheverOutputIsWrong) {
  Tensor a = f32({1}, {1}), b = f32({1}, {2}), c = f32({1}, {3});
  for (size_t wrong : {0, 1, 2}) {
    std::vector<Tensor> got{a, b, c};
    got[wrong] = f32({1}, {9});
    Verification result = verify_outputs({"x", "y", "z"}, got, {a, b, c}, kTight);
    EXPECT_FALSE(result.passed);
    EXPECT_THAT(result.reason, HasSubstr(std::string(1, static_cast<char>('x' + wrong)) + ": relative L2"));
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(result.outputs[i].passed, i != wrong);
  }
}

TEST(VerifyOutputs, TellsTheFirstOfTwoThatAreWrong) {
  Tensor a = f32({1}, {1}), b = f32({1}, {2});
  EXPECT_THAT(verify_outputs({"x", "y"}, {b, a}, {a, b}, kTight).reason, HasSubstr("x: relative L2 error 1"));
}

TEST(VerifyOutputs, ComparesNarrowResultsWithWideReferences) {
  const Tensor wide = Tensor::of<float>({2}, {1, 2}), narrow = convert(wide, DType::bf16);
  EXPECT_TRUE(verify_outputs({"y"}, {narrow}, {wide}, {}).passed);
  EXPECT_FALSE(verify_outputs({"y"}, {convert(Tensor::of<float>({2}, {1, 3}), DType::bf16)}, {wide}, {}).passed);
  EXPECT_FALSE(verify_outputs({"y"}, {wide}, {narrow}, {}).passed) << "the reference tells the type otherwise";
}
TEST(VerifyOutputs, FailsMissingOutputs) {
  Tensor a = f32({1}, {1});
  EXPECT_THAT(verify_outputs({"x", "y"}, {a}, {a, a}, kTight).reason, HasSubstr("got 1 outputs and 2 names, wanted 2"));
  EXPECT_FALSE(verify_outputs({}, {}, {}, kTight).passed);
}

}  // namespace
}  // namespace rung

// Type rules against fields that a file may hold: nothing wraps around, nothing divides by zero.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ir/op.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string error_of(const Op& op, const std::vector<Type>& operands) {
  auto type = infer_type(op, operands);
  return type ? "" : type.error().message;
}

Type f32(Shape shape) { return {DType::f32, shape}; }

TEST(InferType, RefusesReshapesBeyondAllElements) {
  const Shape huge{38654705666, 5332261958806667263, 2};
  EXPECT_THAT(error_of(Reshape{huge}, {f32({2, 2})}), HasSubstr("elements"));
}

TEST(InferType, DoesNotDoubleAttentionsSegmentsToZero) {
  EXPECT_THAT(error_of(Attention{.slots = {AttentionSlot::mask}, .segments = INT64_MAX}, {}),
              HasSubstr("attention: got 0 operands"));
  EXPECT_THAT(error_of(Attention{.segments = int64_t{1} << 63 >> 1 & INT64_MAX}, {f32({1, 1, 1, 1})}),
              HasSubstr("got 1 operands"));
  EXPECT_THAT(error_of(Attention{.segments = 1}, {f32({1, 1, 1, 1}), f32({1, 1, 1, 1})}), HasSubstr("got 2 operands"));
}

TEST(InferType, CountsTheScoresOfAllSegments) {
  const Type k = f32({1, int64_t{1} << 47, 1, 1});
  std::vector<Type> operands{f32({1, 1, 1, 1}), k, k};
  EXPECT_EQ(error_of(Attention{.segments = 1}, operands), "");
  EXPECT_EQ(error_of(Attention{.softcap = 2.5f}, operands), "");
  for (float softcap : {-1.0f, INFINITY, NAN})
    EXPECT_THAT(error_of(Attention{.softcap = softcap}, operands), HasSubstr("wanted a number from 0 on"));
  operands.insert(operands.end(), {k, k, k, k});
  EXPECT_THAT(error_of(Attention{.segments = 3}, operands), HasSubstr("wanted at most"));
}

TEST(InferType, RefusesSpansThatNoKeyIsIn) {
  const std::vector<Type> operands{f32({1, 4, 1, 1}), f32({1, 4, 1, 1}), f32({1, 4, 1, 1})};
  const auto error = [&](const KeySpan& span) { return error_of(Attention{.span = span}, operands); };
  constexpr int64_t kAll = KeySpan::kAll;
  for (const KeySpan& span : {KeySpan{.after = 0}, KeySpan{.before = -3, .after = 3}, KeySpan{.before = 2, .after = -2},
                              KeySpan{.before = kAll, .after = -kAll, .prefix = kAll}})
    EXPECT_EQ(error(span), "");
  EXPECT_THAT(error({.before = 2, .after = -3}), HasSubstr("got before=2 and after=-3, wanted a sum from 0 on"));
  EXPECT_THAT(error({.before = INT64_MIN}), HasSubstr("got before=-9223372036854775808, wanted"));
  EXPECT_THAT(error({.after = kAll + 1}), HasSubstr("got after="));
  for (int64_t prefix : {int64_t{-1}, kAll + 1}) EXPECT_THAT(error({.prefix = prefix}), HasSubstr("got prefix="));
}

TEST(InferType, KeepsStepsWithinTheAxis) {
  EXPECT_EQ(error_of(Slice{.axis = 0, .begin = 0, .end = 4, .step = 4}, {f32({4})}), "");
  EXPECT_THAT(error_of(Slice{.axis = 0, .begin = 0, .end = 4, .step = INT64_MAX}, {f32({4})}),
              HasSubstr("1 <= step <= size"));
  const std::vector<Type> image{f32({1, 4, 4, 1}), f32({1, 2, 2, 1})};
  EXPECT_EQ(error_of(Conv{.stride = {4, 4}}, image), "");
  for (const Dims& wide : {Dims{1, INT64_MAX}, Dims{0, 1}}) {
    EXPECT_THAT(error_of(Conv{.stride = wide}, image), HasSubstr("stride: got"));
    EXPECT_THAT(error_of(Conv{.dilation = wide}, image), HasSubstr("dilation: got"));
    EXPECT_THAT(error_of(Pool{.window = {2, 2}, .stride = wide}, {image[0]}), HasSubstr("stride: got"));
  }
  EXPECT_THAT(error_of(Conv{.before = {-1, 0}}, image), HasSubstr("before: got"));
  EXPECT_THAT(error_of(Conv{.after = {0, INT64_MAX}}, image), HasSubstr("after: got"));
}

// Two of them have a product that is right.
TEST(InferType, RefusesNegativeDimensionsAndAxes) {
  EXPECT_EQ(error_of(Reshape{{3, 4}}, {f32({2, 6})}), "");
  EXPECT_THAT(error_of(Reshape{{-3, -4}}, {f32({2, 6})}), HasSubstr("wanted no negative dimension"));
  EXPECT_THAT(error_of(Transpose{{0, -1}}, {f32({2, 3})}), HasSubstr("is not a permutation of 2 axes"));
}

TEST(InferType, WantsAPairOfColumnsToTurn) {
  EXPECT_EQ(error_of(Rope{}, {f32({3, 2}), f32({2}), f32({2})}), "");
  EXPECT_THAT(error_of(Rope{}, {f32({3, 0}), f32({0}), f32({0})}), HasSubstr("wanted an even last dimension"));
}

TEST(InferType, WantsFloatsOfANormThroughout) {
  const Type weight = f32({8}), whole{DType::i64, {8}};
  EXPECT_EQ(error_of(LayerNorm{}, {f32({2, 8}), weight, weight}), "");
  EXPECT_THAT(error_of(LayerNorm{}, {f32({2, 8}), weight, whole}), HasSubstr("wanted a float type"));
  EXPECT_THAT(error_of(RmsNorm{}, {f32({2, 8}), whole}), HasSubstr("wanted a float type"));
  EXPECT_THAT(error_of(RmsNorm{.out = DType::i64}, {f32({2, 8}), weight}),
              HasSubstr("out=i64, wanted a float type or i8"));
}

}  // namespace
}  // namespace rung

// Shapes: numpy's broadcasting, strides, axes, and editing in place.
// SPDX-License-Identifier: Apache-2.0
#include "ir/shape.hpp"

#include <gtest/gtest.h>

#include "ir/checked_shape.hpp"

namespace rung {
namespace {

std::string broadcast_text(const Shape& a, const Shape& b) {
  auto one = broadcast(a, b), other = broadcast(b, a);
  EXPECT_EQ(one.has_value(), other.has_value());
  if (!one) return one.error().message;
  EXPECT_EQ(*one, *other);
  return to_string(*one);
}

TEST(Broadcast, FollowsNumpy) {
  EXPECT_EQ(broadcast_text({2, 3}, {3}), "[2,3]");
  EXPECT_EQ(broadcast_text({2, 1, 4}, {3, 1}), "[2,3,4]");
  EXPECT_EQ(broadcast_text({}, {5}), "[5]");
  EXPECT_EQ(broadcast_text({1}, {1}), "[1]");
  EXPECT_EQ(broadcast_text({0}, {1}), "[0]") << "one of none is none";
}

TEST(Broadcast, NamesBothShapesThatDoNotFit) {
  EXPECT_EQ(broadcast_text({2, 3}, {2}), "shapes [2,3] and [2] do not broadcast together");
  EXPECT_FALSE(broadcast({0}, {2}));
}

TEST(Dims, InsertAndEraseKeepTheOthersInOrder) {
  Dims dims{1, 2, 3};
  dims.insert(1, 9);
  EXPECT_EQ(to_string(dims), "[1,9,2,3]");
  dims.insert(4, 8);
  EXPECT_EQ(to_string(dims), "[1,9,2,3,8]");
  dims.erase(0);
  EXPECT_EQ(to_string(dims), "[9,2,3,8]");
  dims.erase(3);
  EXPECT_EQ(to_string(dims), "[9,2,3]");
  EXPECT_EQ(dims.product(), 54);
  EXPECT_EQ(dims.back(), 3);
  EXPECT_EQ(dims.back(2), 9);
  EXPECT_EQ(Dims{}.product(), 1);
  EXPECT_FALSE((Dims{1} == Dims{1, 1}));
}

TEST(Strides, AreRowMajor) {
  EXPECT_EQ(to_string(contiguous_strides({2, 3, 5})), "[15,5,1]");
  EXPECT_EQ(to_string(contiguous_strides({7})), "[1]");
  EXPECT_EQ(contiguous_strides({}).rank(), 0);
}

TEST(Axis, CountsFromTheEndWhereItIsNegative) {
  EXPECT_EQ(*normalize_axis(0, 3), 0);
  EXPECT_EQ(*normalize_axis(2, 3), 2);
  EXPECT_EQ(*normalize_axis(-1, 3), 2);
  EXPECT_EQ(*normalize_axis(-3, 3), 0);
  for (int64_t axis : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(normalize_axis(axis, 3).error().message, fmt::format("axis {} is out of range for rank 3", axis));
  EXPECT_FALSE(normalize_axis(0, 0));
}

TEST(Type, TellsItsBytesAndItself) {
  EXPECT_EQ((Type{DType::bf16, {2, 3}}).bytes(), 12u);
  EXPECT_EQ((Type{DType::i64, {}}).bytes(), 8u);
  EXPECT_EQ(to_string(Type{DType::f32, {1, 128}}), "f32[1,128]");
}

TEST(CheckedShape, HoldsUpToItsLimitAndNoMore) {
  constexpr auto kMost = static_cast<uint64_t>(kMaxElements);
  auto checked = [](std::vector<uint64_t> dims) { return checked_shape(dims).has_value(); };
  EXPECT_TRUE(checked({kMost}));
  EXPECT_TRUE(checked({kMost / 2, 2}));
  EXPECT_FALSE(checked({kMost + 1}));
  EXPECT_FALSE(checked({kMost, 2}));
  EXPECT_FALSE(checked({0, kMost, kMost})) << "a dimension of none hides no others";
  EXPECT_TRUE(checked({1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_FALSE(checked({1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace rung

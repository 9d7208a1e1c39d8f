// Views: which strides read an operand in another shape.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

Operand view(const Shape& shape, const Strides& strides) { return {DType::f32, shape, strides}; }
Operand dense_f32(const Shape& shape) { return view(shape, contiguous_strides(shape)); }

TEST(ReshapedStrides, OfRowOrderAreRowOrder) {
  for (const Shape& shape : {Shape{1, 6, 4}, Shape{6, 1, 4}, Shape{24, 1}, Shape{1, 1, 24}, Shape{2, 3, 1, 4, 1}})
    EXPECT_EQ(reshaped_strides(dense_f32({1, 2, 3, 4}), shape), contiguous_strides(shape)) << to_string(shape);
}
TEST(ReshapedStrides, MergeAxesThatFollowEachOther) {
  const Operand columns = view({2, 3, 4}, {60, 20, 5});
  EXPECT_EQ(reshaped_strides(columns, {6, 4}), (Strides{20, 5}));
  EXPECT_EQ(reshaped_strides(columns, {1, 6, 4}), (Strides{120, 20, 5}));
  EXPECT_EQ(reshaped_strides(columns, {2, 12}), (Strides{60, 5}));
  EXPECT_EQ(reshaped_strides(view({2, 3}, {1, 2}), {6}), std::nullopt);
}

}  // namespace
}  // namespace rung

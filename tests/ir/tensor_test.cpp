// Tensors made of values: as many as the shape has elements, in every build.
// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace rung {
namespace {

TEST(Tensor, HoldsTheValuesThatItIsMadeOf) {
  Tensor tensor = Tensor::of<int64_t>({1, 3}, {4, 5, 6});
  EXPECT_EQ(tensor.type(), (Type{DType::i64, {1, 3}}));
  EXPECT_THAT(tensor.as<int64_t>(), testing::ElementsAre(4, 5, 6));
}

TEST(Tensor, IsNotMadeOfAnotherNumberOfValues) {
  EXPECT_THROW(Tensor::of<int64_t>({1, 2}, {4, 5, 6}), std::length_error);
  EXPECT_THROW(Tensor::of<float>({4}, {1}), std::length_error);
  EXPECT_THROW(Tensor::of<float>({}, {}), std::length_error);
}

}  // namespace
}  // namespace rung

// Host tensors: their memory, and conversion between every two types.
// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

namespace rung {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i64,
                            DType::i32, DType::i8,  DType::u8,   DType::boolean};

std::vector<double> values_of(const Tensor& tensor) {
  Tensor wide = convert(tensor, DType::f32);
  return {wide.as<float>().begin(), wide.as<float>().end()};
}

TEST(Tensor, IsZeroedAlignedAndReadablePastItsEnd) {
  for (int64_t size : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{9} << 20}) {
    Tensor tensor({DType::u8, {size}});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(tensor.data(), tensor.data() + size, [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(tensor.data()[size + 63], std::byte{0});
  }
}

TEST(Tensor, SharesItsMemoryWithItsCopies) {
  Tensor tensor = Tensor::of<float>({2}, {1, 2}), copy = tensor;
  copy.as<float>()[0] = 7;
  EXPECT_EQ(tensor.as<float>()[0], 7);
}

TEST(Convert, KeepsSmallNumbersBetweenEveryTwoTypes) {
  for (DType from : kTypes)
    for (DType to : kTypes) {
      Tensor made = convert(convert(Tensor::of<float>({3}, {0, 1, 1}), from), to);
      EXPECT_EQ(made.dtype(), to);
      EXPECT_TRUE(made.shape() == Shape{3});
      EXPECT_THAT(values_of(made), ElementsAre(0, 1, 1)) << name_of(from) << " to " << name_of(to);
    }
}

TEST(Convert, KeepsWhatOnlyTheWideTypesHold) {
  Tensor wide = Tensor::of<int64_t>({2}, {int64_t{1} << 40, -3});
  EXPECT_THAT(convert(wide, DType::i64).as<int64_t>(), ElementsAre(int64_t{1} << 40, -3));
  EXPECT_THAT(convert(Tensor::of<int32_t>({1}, {-(1 << 30)}), DType::i64).as<int64_t>(), ElementsAre(-(1 << 30)));
  EXPECT_THAT(values_of(convert(Tensor::of<float>({3}, {-2.75f, 2.75f, -0.5f}), DType::i8)), ElementsAre(-2, 2, 0))
      << "towards zero, as C++ casts";
}

TEST(Convert, GivesTheLowestNumberForWhatIntegersLack) {
  const Tensor floats = Tensor::of<float>({4}, {NAN, INFINITY, -3e38f, -2.9f});
  EXPECT_THAT(convert(floats, DType::i64).as<int64_t>(), ElementsAre(INT64_MIN, INT64_MIN, INT64_MIN, -2));
  EXPECT_THAT(convert(floats, DType::i32).as<int32_t>(), ElementsAre(INT32_MIN, INT32_MIN, INT32_MIN, -2));
}

TEST(Convert, RoundsWhatANarrowTypeCannotHold) {
  const float value = 1.0f + 3 * 0x1p-11f;
  EXPECT_EQ(convert(Tensor::of<float>({1}, {value}), DType::f16).as<f16>()[0].bits, f16(value).bits);
  EXPECT_EQ(convert(Tensor::of<float>({1}, {1.01f}), DType::bf16).as<bf16>()[0].bits, 0x3f81);
  EXPECT_EQ(convert(Tensor::of<f16>({1}, {f16(1.0f + 3 * 0x1p-10f)}), DType::bf16).as<bf16>()[0].bits, 0x3f80);
  EXPECT_EQ(convert(Tensor::of<int64_t>({1}, {257}), DType::bf16).as<bf16>()[0].bits, 0x4380);
}

TEST(Convert, TakesWhatIsNotZeroForTrue) {
  for (float value : {0.25f, -1.0f, 1e-30f, NAN, INFINITY})
    EXPECT_THAT(convert(Tensor::of<float>({1}, {value}), DType::boolean).as<bool>(), ElementsAre(true)) << value;
  EXPECT_THAT(convert(Tensor::of<float>({2}, {0.0f, -0.0f}), DType::boolean).as<bool>(), Each(false));
  EXPECT_THAT(convert(Tensor::of<bf16>({1}, {bf16(0.25f)}), DType::boolean).as<bool>(), ElementsAre(true));
  EXPECT_THAT(convert(Tensor::of<int64_t>({1}, {256}), DType::boolean).as<bool>(), ElementsAre(true));
}

TEST(DType, IsFoundByItsName) {
  for (DType dtype : kTypes) EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  EXPECT_EQ(dtype_named("f64"), std::nullopt);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::f8e4m3fn), 1u);
}

TEST(Tensor, HoldsTheValuesThatItIsMadeOf) {
  Tensor tensor = Tensor::of<int64_t>({1, 3}, {4, 5, 6});
  EXPECT_EQ(tensor.type(), (Type{DType::i64, {1, 3}}));
  EXPECT_THAT(tensor.as<int64_t>(), ElementsAre(4, 5, 6));
}

TEST(Tensor, IsNotMadeOfAnotherNumberOfValues) {
  EXPECT_THROW(Tensor::of<int64_t>({1, 2}, {4, 5, 6}), std::invalid_argument);
  EXPECT_THROW(Tensor::of<float>({4}, {1}), std::invalid_argument);
  EXPECT_THROW(Tensor::of<float>({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace rung

// Which element types a public tensor can be made of: any other does not compile.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "rung/rung.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
concept CanMake = requires(std::span<const T> values) {
  api::Tensor::of<T>({1}, values);
};
template <class T>
concept CanRead = requires(const api::Tensor& tensor) {
  tensor.values<T>();
};
template <class T>
concept HasDType = requires {
  api::dtype_of<T>();
};

static_assert(CanMake<float> && CanMake<int64_t> && CanMake<int32_t> && CanMake<int8_t> && CanMake<uint8_t> &&
              CanMake<bool>);
static_assert(!CanMake<double> && !CanMake<long double> && !CanMake<long long> && !CanMake<unsigned long> &&
              !CanMake<unsigned> && !CanMake<short> && !CanMake<char> && !CanMake<std::byte> && !CanMake<const float>);
static_assert(CanRead<float> && CanRead<bool> && !CanRead<double> && !CanRead<long long> && !CanRead<unsigned>);
static_assert(HasDType<float> && !HasDType<double> && !HasDType<long long>);

template <class T>
void expect_round_trip(api::DType dtype, const T& first, const T& second) {
  const T values[] = {first, second};
  api::Tensor tensor = api::Tensor::of<T>({2}, values);
  EXPECT_EQ(tensor.dtype, dtype);
  EXPECT_EQ(tensor.bytes.size(), 2 * sizeof(T));
  EXPECT_THAT(tensor.values<T>(), ElementsAre(first, second));
}

TEST(PublicTensor, HoldsWhatItWasMadeOf) {
  expect_round_trip<float>(api::DType::f32, 1.5f, -2);
  expect_round_trip<int64_t>(api::DType::i64, INT64_MIN, 7);
  expect_round_trip<int32_t>(api::DType::i32, INT32_MIN, 7);
  expect_round_trip<int8_t>(api::DType::i8, -128, 7);
  expect_round_trip<uint8_t>(api::DType::u8, 255, 7);
  expect_round_trip<bool>(api::DType::boolean, true, false);
}

TEST(PublicMemory, OfADeviceIsUnreadableOnTheHost) {
  float values[] = {1, 2};
  for (auto [type, readable] : {std::pair{RUNG_CPU, true},
                                {RUNG_CUDA_HOST, true},
                                {RUNG_ROCM_HOST, true},
                                {RUNG_CUDA, false},
                                {RUNG_ROCM, false}}) {
    const api::Memory memory{values, {type, 0}, {"x", api::DType::f32, {2}, sizeof values, true}};
    EXPECT_EQ(memory.on_host(), readable) << type;
    EXPECT_EQ(memory.values<float>().size(), readable ? 2u : 0u) << type;
  }
}

TEST(PublicTensor, OfAnotherTypeReadsAsEmpty) {
  const float values[] = {1, 2};
  api::Tensor tensor = api::Tensor::of<float>({2}, values);
  EXPECT_THAT(tensor.values<int32_t>(), IsEmpty());
  EXPECT_THAT(tensor.values<bool>(), IsEmpty());
}

}  // namespace
}  // namespace rung

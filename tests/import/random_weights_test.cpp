// Random checkpoints: same seed and name, same values; scales by what a parameter's name and shape say it is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "import/checkpoint.hpp"

namespace rung {
namespace {

Tensor load(const Checkpoint& checkpoint, const std::string& name, const Shape& shape) {
  return *(*checkpoint.get(name, shape))->load();
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const Tensor& tensor) {
  double sum = 0, squares = 0;
  for (float v : tensor.as<float>()) sum += v, squares += double{v} * v;
  double n = static_cast<double>(tensor.elements());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

TEST(RandomCheckpoint, GivesTheSameValuesWhateverTheOrder) {
  auto first = random_checkpoint(7, DType::f32), second = random_checkpoint(7, DType::f32);
  Tensor a = load(*first, "a", {100}), b = load(*first, "b", {100});
  Tensor b2 = load(*second, "b", {100}), a2 = load(*second, "a", {100});
  EXPECT_EQ(std::memcmp(a.data(), a2.data(), a.bytes()), 0);
  EXPECT_EQ(std::memcmp(b.data(), b2.data(), b.bytes()), 0);
  EXPECT_NE(std::memcmp(a.data(), b.data(), a.bytes()), 0) << "names must differ";
  Tensor other = load(*random_checkpoint(8, DType::f32), "a", {100});
  EXPECT_NE(std::memcmp(a.data(), other.data(), a.bytes()), 0) << "seeds must differ";
}

TEST(RandomCheckpoint, HasEveryNameAndListsNone) {
  auto checkpoint = random_checkpoint(0, DType::bf16);
  EXPECT_TRUE(checkpoint->contains("anything"));
  EXPECT_TRUE(checkpoint->names().empty());
  EXPECT_TRUE(unused(*checkpoint, {}).empty());
}

TEST(RandomCheckpoint, RoundsTheSameValuesToTheAskedType) {
  Tensor full = load(*random_checkpoint(3, DType::f32), "w", {64, 64});
  Tensor half = load(*random_checkpoint(3, DType::bf16), "w", {64, 64});
  EXPECT_EQ(half.dtype(), DType::bf16);
  Tensor rounded = convert(full, DType::bf16);
  EXPECT_EQ(std::memcmp(half.data(), rounded.data(), half.bytes()), 0);
}

TEST(RandomCheckpoint, TakesNoMemoryUntilLoaded) {
  auto checkpoint = random_checkpoint(0, DType::f32);
  auto weight = checkpoint->get("w", {int64_t{1} << 30, int64_t{1} << 20});
  ASSERT_TRUE(weight);
  EXPECT_FALSE((*weight)->immediate());
}

TEST(RandomCheckpoint, RefusesToMakeIntegers) {
  auto weight = random_checkpoint(0, DType::i32)->get("w", {2});
  ASSERT_TRUE(weight);
  EXPECT_FALSE((*weight)->load());
}

struct ScaleCase {
  const char* name;
  Shape shape;
  double mean, deviation;
};
class RandomScale : public testing::TestWithParam<ScaleCase> {};

TEST_P(RandomScale, FollowsTheNameAndShape) {
  auto [name, shape, mean, deviation] = GetParam();
  auto got = moments(load(*random_checkpoint(1, DType::f32), name, shape));
  double n = static_cast<double>(shape.product());
  EXPECT_NEAR(got.mean, mean, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(got.deviation, deviation, 5 * deviation / std::sqrt(2 * n));
}

INSTANTIATE_TEST_SUITE_P(, RandomScale,
                         testing::Values(ScaleCase{"layers.0.q_proj.weight", {300, 400}, 0, 0.05},
                                         ScaleCase{"vision.embeddings.patch_embedding.weight", {500, 4, 5, 5}, 0, 0.1},
                                         ScaleCase{"embeddings.word_embeddings.weight", {1000, 64}, 0, 0.02},
                                         ScaleCase{"vision.embeddings.position_embedding.weight", {1000, 64}, 0, 0.02},
                                         ScaleCase{"attention.output.LayerNorm.weight", {10000}, 1, 0.1},
                                         ScaleCase{"vision.layers.0.layer_norm1.weight", {10000}, 1, 0.1},
                                         ScaleCase{"vision.post_layernorm.weight", {10000}, 1, 0.1},
                                         ScaleCase{"layers.0.input_layernorm.weight", {10000}, 0, 0.1},
                                         ScaleCase{"layers.0.post_attention_layernorm.weight", {10000}, 0, 0.1},
                                         ScaleCase{"attention.output.LayerNorm.bias", {10000}, 0, 0.1}));

}  // namespace
}  // namespace rung

// Checkpoints: single and sharded directories, and the errors for what is missing, mis-shaped or left over.
// SPDX-License-Identifier: Apache-2.0
#include "import/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/safetensors.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor vector_of(std::vector<float> values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, values); }

std::string error_of(const TemporaryDirectory& dir) {
  auto opened = open_checkpoint(dir.path());
  return opened ? "opened" : opened.error().message;
}

TEST(OpenCheckpoint, ReadsModelSafetensors) {
  TemporaryDirectory dir;
  ASSERT_TRUE(write_safetensors(dir / "model.safetensors", {{"a", vector_of({1, 2})}, {"b", vector_of({3})}}, {}));
  dir.write("other.safetensors", "ignored");
  auto checkpoint = open_checkpoint(dir.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_THAT((*checkpoint)->names(), ElementsAre("a", "b"));
  EXPECT_TRUE((*checkpoint)->contains("a"));
  EXPECT_FALSE((*checkpoint)->contains("c"));
  EXPECT_EQ((*checkpoint)->type("a"), (Type{DType::f32, {2}}));
  auto weight = (*checkpoint)->get("a", {2});
  ASSERT_TRUE(weight) << weight.error().message;
  checkpoint->reset();
  auto value = (*weight)->load();
  ASSERT_TRUE(value);
  EXPECT_THAT(value->as<float>(), ElementsAre(1, 2));
}

TEST(OpenCheckpoint, ReadsTheOnlySafetensorsFile) {
  TemporaryDirectory dir;
  ASSERT_TRUE(write_safetensors(dir / "weights.safetensors", {{"a", vector_of({1})}}, {}));
  EXPECT_EQ(error_of(dir), "opened");
  dir.write("second.safetensors", "");
  EXPECT_THAT(error_of(dir), HasSubstr("got 2 *.safetensors files"));
}

TEST(OpenCheckpoint, SaysWhatADirectoryWithoutWeightsLacks) {
  TemporaryDirectory dir;
  EXPECT_THAT(error_of(dir), HasSubstr("wanted model.safetensors, model.safetensors.index.json or exactly one"));
  EXPECT_THAT(open_checkpoint(dir / "none").error().message, HasSubstr("no such directory"));
}

TEST(OpenCheckpoint, NamesATruncatedFile) {
  TemporaryDirectory dir;
  dir.write("model.safetensors", "abc");
  EXPECT_THAT(error_of(dir), HasSubstr("model.safetensors': got 3 bytes"));
}

class ShardedCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_safetensors(dir / "1.safetensors", {{"a", vector_of({1})}}, {}));
    ASSERT_TRUE(write_safetensors(dir / "2.safetensors", {{"b", vector_of({2})}}, {}));
  }
  void index(const std::string& text) { dir.write("model.safetensors.index.json", text); }
  TemporaryDirectory dir;
};

TEST_F(ShardedCheckpoint, ReadsEveryShard) {
  index(R"({"metadata":{"total_size":8},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  auto checkpoint = open_checkpoint(dir.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_THAT((*checkpoint)->names(), ElementsAre("a", "b"));
  EXPECT_EQ((*(*checkpoint)->get("b", {1}))->load()->as<float>()[0], 2.0f);
}

TEST_F(ShardedCheckpoint, RefusesATensorThatItsShardLacks) {
  index(R"({"weight_map":{"a":"2.safetensors"}})");
  EXPECT_THAT(error_of(dir), HasSubstr("shard '2.safetensors' has no tensor 'a'"));
}

TEST_F(ShardedCheckpoint, RefusesATensorInTwoShards) {
  ASSERT_TRUE(write_safetensors(dir / "2.safetensors", {{"a", vector_of({2})}, {"b", vector_of({2})}}, {}));
  index(R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  EXPECT_THAT(error_of(dir), HasSubstr("tensor 'a' is in"));
}

TEST_F(ShardedCheckpoint, RefusesShardNamesOutsideTheDirectory) {
  for (const char* name : {"\"../1.safetensors\"", "\"/etc/passwd\"", "\"..\"", "\"\"", "\"x\\u0000y\"", "7", "{}"}) {
    index(std::string(R"({"weight_map":{"a":)") + name + "}}");
    EXPECT_THAT(error_of(dir), HasSubstr("wanted a file name")) << name;
  }
}

TEST_F(ShardedCheckpoint, RefusesAnIndexWithoutAWeightMap) {
  for (const char* text : {"{}", "[]", R"({"weight_map":[]})"}) {
    index(text);
    EXPECT_THAT(error_of(dir), HasSubstr("wanted an object with an object 'weight_map'")) << text;
  }
  index("{");
  EXPECT_THAT(error_of(dir), HasSubstr("not valid JSON"));
}

TEST_F(ShardedCheckpoint, NamesAMissingShard) {
  index(R"({"weight_map":{"a":"3.safetensors"}})");
  EXPECT_THAT(error_of(dir), HasSubstr("3.safetensors"));
}

class OneTensor : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_safetensors(dir / "model.safetensors", {{"encoder.w", Tensor({DType::bf16, {2, 3}})}}, {}));
    checkpoint = std::move(*open_checkpoint(dir.path()));
  }
  TemporaryDirectory dir;
  std::unique_ptr<Checkpoint> checkpoint;
};

TEST_F(OneTensor, MissingOneIsNamedWithTheWantedShape) {
  auto weight = checkpoint->get("encoder.b", {3});
  ASSERT_FALSE(weight);
  EXPECT_THAT(weight.error().message, HasSubstr("no tensor 'encoder.b', wanted one of shape [3]"));
}

TEST_F(OneTensor, WrongShapeIsNamedWithGotAndWanted) {
  auto weight = checkpoint->get("encoder.w", {3, 2});
  ASSERT_FALSE(weight);
  EXPECT_THAT(weight.error().message, HasSubstr("tensor 'encoder.w': got bf16[2,3], wanted shape [3,2]"));
}

TEST(UnusedTensors, AreListedInOrder) {
  TemporaryDirectory dir;
  TensorList tensors;
  for (char c = 'a'; c <= 'h'; ++c) tensors.emplace_back(std::string(1, c), vector_of({1}));
  ASSERT_TRUE(write_safetensors(dir / "model.safetensors", tensors, {}));
  auto checkpoint = *open_checkpoint(dir.path());
  EXPECT_THAT(unused(*checkpoint, {"a", "b", "c", "d", "e", "f"}), ElementsAre("g", "h"));
  EXPECT_THAT(unused(*checkpoint, {"a", "b", "c", "d", "e", "f", "g", "h"}), ElementsAre());
}

}  // namespace
}  // namespace rung

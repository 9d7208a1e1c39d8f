// Caches that grow by concatenation, and concatenations that are something else.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::growing_cache;
constexpr std::string_view kKernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<c10::BFloat16>()";

// A step that makes one token behind `length` others: `cat` tells its concatenations.
using Cats = std::function<void(ToldModel&, int64_t length)>;

void cat(ToldModel& model, const Shape& first, const Shape& second, double us = 60) {
  const OperandTexts texts =
      model.script.operands(fmt::format("[[{},{}],[]]", json_of(first), json_of(second)), R"(["TensorList","Scalar"])");
  model.script.op(
      "aten::cat", [&] { model.script.kernel(kKernel, us); }, texts);
}

std::optional<TraceFinding> found(const Cats& cats, int steps = 3) {
  ToldModel model;
  for (int step = 1; step <= steps; ++step)
    model.script.range(fmt::format("ProfilerStep#{}", step), [&] {
      model.product({1, 4096, 65536, 2000});
      cats(model, 500 + step);
    });
  return model.found(kFinding);
}

void grow(ToldModel& model, int64_t length) {
  for (int i = 0; i < 2; ++i) cat(model, {1, 8, length, 64}, {1, 8, 1, 64});  // keys, values
}

TEST(GrowingCache, IsCopiedWholeEachStep) {
  const auto finding = found(grow);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "growing_cache");
  EXPECT_EQ(finding->evidence[0].event, "aten::cat [1,8,501,64] + [1,8,1,64]");
  EXPECT_NEAR(finding->bound_ms, 0.120, 0.001);
}

TEST(GrowingCache, OfASlidingWindowIsNone) {
  EXPECT_FALSE(found([](ToldModel& model, int64_t) {
    cat(model, {1, 8, 500, 64}, {1, 8, 1, 64});
  })) << "the next step does not append to what this one made";
}

TEST(GrowingCache, OtherConcatenationsAreNone) {
  EXPECT_FALSE(found([](ToldModel& model, int64_t length) {
    cat(model, {1, 8, length, 32}, {1, 8, length, 32});
  })) << "two halves of rotary positions, of a text that is read again each step";
  EXPECT_FALSE(found([](ToldModel& model, int64_t) { cat(model, {1, 64}, {1, 64}); }));
  EXPECT_FALSE(found([](ToldModel& model, int64_t) {
    cat(model, {8, 32}, {8, 33});
  })) << "what is appended is longer than what was there";
  EXPECT_FALSE(found(grow, 1)) << "one step does not show growth";
}

TEST(GrowingCache, OfFewBytesIsNoMatter) {
  EXPECT_FALSE(found([](ToldModel& model, int64_t length) {
    cat(model, {1, length}, {1, 1}, 0.4);
  })) << "the tokens of the text";
}

TEST(GrowingCache, NeedsShapes) {
  EXPECT_FALSE(found(
      [](ToldModel& model, int64_t) { model.script.op("aten::cat", [&] { model.script.kernel(kKernel, 60); }); }));
}

TEST(ListedShapes, AreThoseOfTheFirstArgument) {
  ScriptedRecording script;
  const auto op = [&](std::string_view shapes) {
    script.op(
        "aten::cat", [] {}, script.operands(shapes, R"(["TensorList","Scalar"])"));
  };
  op("[[[1,2],[3,4]],[]]"), op("[[1,2],[]]"), op("[]"), op("nonsense"), op("[[[1,null],[5]],[]]");
  const Recording recording = script.finish();
  std::vector<std::vector<Shape>> read;
  for (const Event& event : recording.events) read.push_back(listed_shapes(recording, event));
  const std::vector<Shape> none;
  ASSERT_EQ(read.size(), 5u);
  EXPECT_EQ(read[0], (std::vector<Shape>{{1, 2}, {3, 4}}));
  EXPECT_EQ(read[2], none);
  EXPECT_EQ(read[3], none);
  EXPECT_EQ(read[4], (std::vector<Shape>{{}, {5}}));
}

}  // namespace
}  // namespace rung::trace

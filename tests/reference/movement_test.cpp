// Ops that move elements: where each one ends up.
// SPDX-License-Identifier: Apache-2.0
#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Inputs kInputs{{"x", i64({2, 3}, {1, 2, 3, 4, 5, 6})}, {"y", i64({2, 1}, {7, 8})}};

TEST(MovementReference, ReshapeKeepsTheOrder) {
  Tensor y = run("reshape(x:i64[2,3], shape=[3,2])", kInputs);
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_THAT(y.as<int64_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(MovementReference, TransposeMovesAxes) {
  EXPECT_THAT(run("transpose(x:i64[2,3], permutation=[1,0])", kInputs).as<int64_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
  Inputs cube{{"x", i64({1, 2, 3}, {1, 2, 3, 4, 5, 6})}};
  Tensor y = run("transpose(x:i64[1,2,3], permutation=[2,0,1])", cube);
  EXPECT_EQ(y.shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(y.as<int64_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(MovementReference, SliceTakesEveryStepth) {
  EXPECT_THAT(run("slice(x:i64[2,3], axis=1, begin=0, end=3, step=2)", kInputs).as<int64_t>(), ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(run("slice(x:i64[2,3], axis=-2, begin=1, end=2)", kInputs).as<int64_t>(), ElementsAre(4, 5, 6));
  EXPECT_EQ(run("slice(x:i64[2,3], axis=1, begin=1, end=1)", kInputs).elements(), 0);
}

TEST(MovementReference, ConcatJoinsAlongAnyAxis) {
  EXPECT_THAT(run("concat(x:i64[2,3], y:i64[2,1], axis=-1)", kInputs).as<int64_t>(),
              ElementsAre(1, 2, 3, 7, 4, 5, 6, 8));
  EXPECT_THAT(run("concat(x:i64[2,3], x, axis=0)", kInputs).as<int64_t>(),
              ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
}

TEST(MovementReference, BroadcastRepeats) {
  EXPECT_THAT(run("broadcast(y:i64[2,1], shape=[2,2,2])", kInputs).as<int64_t>(), ElementsAre(7, 7, 8, 8, 7, 7, 8, 8));
}

TEST(MovementReference, GatherPicksRowsOrColumns) {
  Inputs inputs = kInputs;
  inputs["i"] = i64({2, 2}, {1, 0, 0, 1});
  Tensor rows = run("gather(x:i64[2,3], i:i64[2,2])", inputs);
  EXPECT_EQ(rows.shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(rows.as<int64_t>(), ElementsAre(4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6));
  inputs["j"] = Tensor::of<int32_t>({2}, {2, 0});
  EXPECT_THAT(run("gather(x:i64[2,3], j:i32[2], axis=-1)", inputs).as<int64_t>(), ElementsAre(3, 1, 6, 4));
}

TEST(MovementReference, GatherNamesAnIndexOutOfRange) {
  Inputs inputs = kInputs;
  inputs["i"] = i64({3}, {0, 1, 2});
  EXPECT_THAT(error_of("gather(x:i64[2,3], i:i64[3])", inputs), HasSubstr("index 2 at position 2: wanted 0 to 1"));
  inputs["i"] = i64({3}, {0, -1, 1});
  EXPECT_THAT(error_of("gather(x:i64[2,3], i:i64[3])", inputs), HasSubstr("index -1 at position 1"));
}

const Inputs kRows{
    {"x", i64({3, 2}, {1, 2, 3, 4, 5, 6})}, {"i", i64({3}, {2, 0, 2})}, {"u", i64({3, 2}, {7, 8, 9, 1, 2, 3})}};

TEST(ScatterReference, LastOfTheValuesForARowWins) {
  EXPECT_THAT(run("scatter(x:i64[3,2], i:i64[3], u:i64[3,2])", kRows).as<int64_t>(), ElementsAre(9, 1, 3, 4, 2, 3));
}

TEST(ScatterReference, JoinsValuesWithWhatStandsThere) {
  const auto joined = [](const char* kind) {
    const Tensor y = run(fmt::format("scatter(x:i64[3,2], i:i64[3], u:i64[3,2], kind={})", kind), kRows);
    return std::vector<int64_t>(y.as<int64_t>().begin(), y.as<int64_t>().end());
  };
  EXPECT_THAT(joined("add"), ElementsAre(10, 3, 3, 4, 14, 17));
  EXPECT_THAT(joined("mul"), ElementsAre(9, 2, 3, 4, 70, 144));
  EXPECT_THAT(joined("max"), ElementsAre(9, 2, 3, 4, 7, 8));
  EXPECT_THAT(joined("min"), ElementsAre(1, 1, 3, 4, 2, 3));
}

}  // namespace
}  // namespace rung

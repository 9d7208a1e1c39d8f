// Which part of a model a label belongs to.
// SPDX-License-Identifier: Apache-2.0
#include "measure/stage.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

const std::vector<Stage> kStages{{"vision", {"camera", "image_embeddings"}}, {"expert", {"step.*.expert"}}};

TEST(Stage, IsTheFirstWhoseScopeBeginsTheLabel) {
  EXPECT_EQ(stage_of(kStages, "camera.0.tower.layers.3"), "vision");
  EXPECT_EQ(stage_of(kStages, "camera"), "vision");
  EXPECT_EQ(stage_of(kStages, "image_embeddings"), "vision");
}

TEST(Stage, TakesAStarForAnyOneWord) {
  EXPECT_EQ(stage_of(kStages, "step.7.expert.norm"), "expert");
  EXPECT_EQ(stage_of(kStages, "step.7.8.expert.norm"), kRest);
  EXPECT_EQ(stage_of(kStages, "step.7"), kRest);
}

TEST(Stage, MatchesWholeWordsOnly) {
  EXPECT_EQ(stage_of(kStages, "cameras.0"), kRest);
  EXPECT_EQ(stage_of(kStages, "step.7.expert_norm"), kRest);
}

TEST(Stage, IsTheFirstWordWhereNoneIsNamed) {
  EXPECT_EQ(stage_of({}, "encoder.layer.0"), "encoder");
  EXPECT_EQ(stage_of({}, "mask"), "mask");
  EXPECT_EQ(stage_of({}, ""), kRest);
}

}  // namespace
}  // namespace rung

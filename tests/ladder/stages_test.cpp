// Parts of a model: every launch belongs to one, and their times and floors are those of their launches.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/stages.hpp"

#include "ladder/profile.hpp"
#include "ladder/support.hpp"
#include "open/recipe.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;

struct Profiled {
  Subject subject = tiny_bert();
  std::shared_ptr<Plan> plan;
  Profile profile;
  std::vector<StageTime> stages;
  explicit Profiled(bool named = true) {
    auto built = build_plan(subject.model.graph, default_recipe(1));
    EXPECT_TRUE(built) << built.error().message;
    plan = std::make_shared<Plan>(std::move(built->plan));
    attach_model(*plan, subject);
    if (!named) plan->stages.clear();
    auto session = Session::create(plan, std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(session) << session.error().message;
    auto done = profile_session(*session, sample_inputs(subject.model, 1), 0.01);
    EXPECT_TRUE(done) << done.error().message;
    if (!done) return;
    profile = std::move(*done);
    auto timed = time_stages(*session, profile.ops);
    EXPECT_TRUE(timed) << timed.error().message;
    if (timed) stages = std::move(*timed);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& stage : stages) names.push_back(stage.name);
    return names;
  }
};

TEST(Stages, AreTheModelsInItsOrder) {
  std::vector<std::string> names = Profiled().names();
  ASSERT_GE(names.size(), 3u);
  names.resize(3);
  EXPECT_THAT(names, ElementsAre("embeddings", "layers", "pooling"));
}

TEST(Stages, HoldEveryLaunchOnce) {
  Profiled bert;
  double us = 0, floor_us = 0;
  size_t launches = 0;
  for (const auto& stage : bert.stages) {
    us += stage.us, floor_us += stage.floor_us;
    launches += static_cast<size_t>(stage.launches);
  }
  double ops_us = 0;
  for (const auto& op : bert.profile.ops) ops_us += op.us;
  EXPECT_EQ(launches, bert.plan->steps.size());
  EXPECT_DOUBLE_EQ(us, ops_us);
  EXPECT_NEAR(floor_us, bert.profile.floor_ms * 1e3, 1e-6);
}

TEST(Stages, NameThemselvesOnEveryOp) {
  Profiled bert;
  for (const auto& op : bert.profile.ops) {
    if (op.label.starts_with("encoder.")) {
      EXPECT_EQ(op.stage, "layers") << op.label;
    }
    EXPECT_NE(op.stage, "") << op.label;
  }
}

TEST(Stages, AreFirstWordsWhereTheModelNamesNone) {
  Profiled bert(false);
  EXPECT_THAT(bert.names(), ::testing::IsSupersetOf({"embeddings", "encoder"}));
}

}  // namespace
}  // namespace rung

// rung verify --seeds: errors over fresh samples, besides those of every verification.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/seeds.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "open/inputs.hpp"
#include "open/recipe.hpp"
#include "support/bert_tiny.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

const std::string kPolicy = std::string(RUNG_TEST_DATA) + "/pi0_tiny";

VerifyTask task_of(const std::string& path, size_t seeds, std::optional<uint64_t> first) {
  VerifyTask task{.model = {.path = path, .threads = 1}, .seeds = seeds, .first_seed = first};
  if (path == kBert) task.model.shapes = {{"input_ids", {1, 7}}};
  return task;
}
Verified verified(const VerifyTask& task) {
  auto found = verify(task);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : Verified{};
}

TEST(Seeds, AreDrawnBesideTheFrozenOnes) {
  EXPECT_EQ(fresh_seeds(3, 40), (std::vector<uint64_t>{40, 41, 42}));
  for (int draw = 0; draw < 20; ++draw) EXPECT_GT(fresh_seeds(1, std::nullopt).front(), kFrozenSeeds);
  EXPECT_NE(fresh_seeds(1, std::nullopt), fresh_seeds(1, std::nullopt)) << "one time in 4 thousand million";
}

TEST(Seeds, TellTheWorstAndTheMean) {
  const Verified found = verified(task_of(kBert, 5, 40));
  ASSERT_TRUE(found.seeds);
  EXPECT_TRUE(found.verification.passed);
  EXPECT_THAT(found.reason, HasSubstr("8 inputs against "));
  for (const auto& [values, seeds] :
       {std::pair(found.seeds->of_frozen, found.seeds->frozen), std::pair(found.seeds->of_fresh, found.seeds->fresh)}) {
    ASSERT_EQ(values.size(), 2u);
    for (const ValueErrors& value : values) {
      EXPECT_GT(value.mean, 0);
      EXPECT_GT(value.worst, value.mean);
      EXPECT_LT(value.worst, value.mean * static_cast<double>(seeds.size()));
      EXPECT_THAT(value.worst_seed, testing::AllOf(Ge(seeds.front()), Le(seeds.back())));
    }
  }
  EXPECT_FALSE(found.seeds->growth) << "nothing is watched";
}

// Each seed alone gives what it added to the whole.
TEST(Seeds, GiveTheSameAgain) {
  const Verified all = verified(task_of(kBert, 2, 40));
  const Verified one = verified(task_of(kBert, 1, 40)), other = verified(task_of(kBert, 1, 41));
  ASSERT_TRUE(all.seeds && one.seeds && other.seeds);
  for (size_t i = 0; i < all.seeds->of_fresh.size(); ++i) {
    const ValueErrors &a = one.seeds->of_fresh[i], &b = other.seeds->of_fresh[i], &sum = all.seeds->of_fresh[i];
    EXPECT_EQ(sum.worst, std::max(a.worst, b.worst));
    EXPECT_EQ(sum.worst_seed, a.worst > b.worst ? 40u : 41u);
    EXPECT_DOUBLE_EQ(sum.mean, (a.mean + b.mean) / 2);
    EXPECT_EQ(a.worst, a.mean);
    EXPECT_NE(a.worst, b.worst);
    EXPECT_EQ(all.seeds->of_frozen[i].worst, one.seeds->of_frozen[i].worst);
  }
}

TEST(Seeds, ShowInWhichStepAPolicysErrorGrows) {
  VerifyTask task = task_of(kPolicy, 3, 40);
  Recipe recipe = default_recipe(1, DType::bf16);
  task.recipe = recipe;
  const Verified found = verified(task);
  ASSERT_TRUE(found.seeds && found.seeds->growth);
  const auto& values = found.seeds->of_fresh;
  ASSERT_GE(values.size(), 3u);
  EXPECT_EQ(values[0].name, "actions");
  for (size_t step = 0; step + 1 < values.size(); ++step)
    EXPECT_EQ(values[step + 1].name, fmt::format("step.{}.action_out_proj", step));
  double most = 0;
  for (size_t step = 2; step < values.size(); ++step) most = std::max(most, values[step].mean / values[step - 1].mean);
  EXPECT_DOUBLE_EQ(found.seeds->growth->factor, most);
  const auto to = std::ranges::find(values, found.seeds->growth->to, &ValueErrors::name);
  EXPECT_EQ((to - 1)->name, found.seeds->growth->from);
  EXPECT_EQ(found.verification.outputs.size(), 1u) << "the outputs that are judged are the model's";
  const auto json = to_json(found)["seeds"];
  EXPECT_EQ(json["fresh"]["count"], 3);
  EXPECT_EQ(json["growth"]["factor"], most);
}

TEST(Seeds, WantAnInputToSample) {
  VerifyTask task{.model = {.path = kBert, .threads = 1, .inputs = given_arrays(*read_npz(kBert + "/inputs.npz"))},
                  .seeds = 4};
  const auto refused = verify(task);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("seeds 4: inputs gives every input, wanted one that is left out"));
}

}  // namespace
}  // namespace rung::tasks

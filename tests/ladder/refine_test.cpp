// What is tried on a whole model, in which order, and what is not tried twice.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/refine.hpp"

#include "ladder/workbench.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;

const KernelChoice kFirst{"linear_avx2", {}}, kSecond{"linear_fallback", {}}, kThird{"linear_openblas", {}};

// Two problems of linear layers, each with these kernels timed alone at 10, 11 and 12 us; the second has 3 launches.
class Refine : public ::testing::Test {
 protected:
  Refine() : database_(*TuningDatabase::open(directory_ / "tuning.json", "device")) {
    Subject subject = tiny_bert();
    auto built = build_plan(subject.model.graph, {}, {.contents = false});
    EXPECT_TRUE(built);
    for (const Step& step : built->plan.steps) {
      if (!as<Linear>(step.op) || (!tasks_.empty() && tasks_[0].key == step.problem) || tasks_.size() == 2) continue;
      tasks_.push_back({.key = step.problem, .problem = problem_of(step, 1), .count = tasks_.empty() ? 1 : 3});
    }
    for (const TuneTask& task : tasks_) {
      database_.put(task.key, {kFirst,
                               {{kFirst.kernel, {}, 10, "chosen"},
                                {kThird.kernel, {}, 12, "1.2 x"},
                                {kSecond.kernel, {}, 11, "1.1 x"},
                                {"linear_far", {}, 14, "1.4 x"}}});
      recipe_.choices[task.key] = kFirst;
    }
  }
  std::vector<std::string> trials(const std::set<std::string>& tried = {}) {
    std::vector<std::string> texts;
    for (const ModelTrial& trial : trials_of(tasks_, database_, recipe_, tried))
      texts.push_back(text_of(trial.key, trial.choice));
    return texts;
  }

  TemporaryDirectory directory_;
  TuningDatabase database_;
  std::vector<TuneTask> tasks_;
  Recipe recipe_;
};

TEST_F(Refine, TriesNextBestFirstAndLongestProblemsFirst) {
  ASSERT_EQ(tasks_.size(), 2u);
  const std::string &once = tasks_[0].key, &thrice = tasks_[1].key;
  EXPECT_THAT(trials(), ElementsAre(text_of(thrice, kSecond), text_of(once, kSecond), text_of(thrice, kThird),
                                    text_of(once, kThird)));
}

// Refining tries those up to 1.3 x as long as the best, four of a problem at most, and none that did not run.
TEST_F(Refine, TriesTheNearestOnly) {
  const std::string& once = tasks_[0].key;
  tasks_.resize(1);
  const auto timed = [](const char* kernel, double us) { return Candidate{kernel, {}, us, "measured"}; };
  database_.put(once, {kFirst, {timed("linear_avx2", 10), timed("far", 13.01), timed("near", 12.99), timed("not", 0)}});
  EXPECT_THAT(trials(), ElementsAre(once + ": near"));
  database_.put(once, {kFirst,
                       {timed("linear_avx2", 10), timed("f", 10.6), timed("e", 10.5), timed("d", 10.4),
                        timed("c", 10.3), timed("b", 10.2)}});
  EXPECT_THAT(trials(), ElementsAre(once + ": b", once + ": c", once + ": d", once + ": e"));
}

TEST_F(Refine, LeavesOutProblemsThatTakeTooLittle) {
  std::vector<ModelTrial> all = trials_of(tasks_, database_, recipe_, {});  // 10 us once, and 10 us thrice
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(drop_short(all, 10), 0u);
  EXPECT_EQ(drop_short(all, 10.5), 2u);
  for (const ModelTrial& trial : all) EXPECT_EQ(trial.key, tasks_[1].key);
  EXPECT_EQ(drop_short(all, 30.5), 2u);
}

TEST_F(Refine, TriesNothingTwice) {
  const std::string &once = tasks_[0].key, &thrice = tasks_[1].key;
  EXPECT_THAT(trials({text_of(thrice, kSecond), text_of(once, kThird)}),
              ElementsAre(text_of(once, kSecond), text_of(thrice, kThird)));
}

TEST_F(Refine, RetriesAReplacedChoiceOnlyIfUntried) {
  const std::string& once = tasks_[0].key;
  recipe_.choices[once] = kSecond;  // kept by an earlier climb
  EXPECT_THAT(trials(), ::testing::Contains(text_of(once, kFirst)));
  EXPECT_THAT(trials({text_of(once, kFirst)}), ::testing::Not(::testing::Contains(text_of(once, kFirst))));
}

TEST_F(Refine, ChangesOneParameterAndLeavesTheOthers) {
  const std::string& once = tasks_[0].key;
  database_.put(once, {kFirst,
                       {{kFirst.kernel, {}, 10, "chosen"},
                        {kFirst.kernel, {{"tile", 2}}, 11, "1.1 x"},
                        {kFirst.kernel, {{"throttle", 3}}, 12, "1.2 x"},
                        {kSecond.kernel, {{"tile", 4}}, 12.5, "1.25 x"}}});
  recipe_.choices[once] = {kFirst.kernel, {{"tile", 2}}};
  EXPECT_THAT(trials(), ::testing::IsSupersetOf({text_of(once, kFirst),
                                                 text_of(once, {kFirst.kernel, {{"tile", 2}, {"throttle", 3}}}),
                                                 text_of(once, {kSecond.kernel, {{"tile", 4}}})}));
  EXPECT_THAT(trials(), ::testing::Not(::testing::Contains(text_of(once, {kFirst.kernel, {{"throttle", 3}}}))));
}

TEST_F(Refine, LeavesOutWhatTheModelCannotShow) {
  std::vector<ModelTrial> all = trials_of(tasks_, database_, recipe_, {});
  EXPECT_EQ(drop_short(all, 9), 0u);
  EXPECT_EQ(drop_short(all, 20), 2u);  // one launch of 10 us; three take 30
  for (const ModelTrial& trial : all) EXPECT_EQ(trial.key, tasks_[1].key);
}

TEST(TuneIsOutdated, WhenARungWasKeptSince) {
  const Receipt fusion{.name = "fusion", .accepted = true}, tune{.name = "tune"}, refused{.name = "attention"},
      precision{.name = "precision", .accepted = true};
  const Rung& rung = *rung_named("tune");
  EXPECT_FALSE(is_outdated(rung, {fusion}));  // it never had its turn
  EXPECT_FALSE(is_outdated(rung, {fusion, tune, refused}));
  EXPECT_TRUE(is_outdated(rung, {fusion, tune, precision, refused}));
  EXPECT_FALSE(is_outdated(rung, {fusion, tune, precision, tune}));
}

// Rungs that were kept after its last turn count, whatever came of that turn.
TEST(TuneIsOutdated, NotByItsOwnReceipt) {
  const Receipt refused{.name = "attention"}, kept{.name = "precision", .accepted = true};
  const Rung& rung = *rung_named("tune");
  for (const bool accepted : {false, true}) {
    const Receipt tune{.name = "tune", .accepted = accepted};
    EXPECT_FALSE(is_outdated(rung, {tune})) << accepted;
    EXPECT_FALSE(is_outdated(rung, {kept, tune})) << accepted;
    EXPECT_FALSE(is_outdated(rung, {tune, refused})) << accepted;
    EXPECT_FALSE(is_outdated(rung, {tune, kept, tune, refused})) << accepted;
    EXPECT_TRUE(is_outdated(rung, {tune, kept})) << accepted;
    EXPECT_TRUE(is_outdated(rung, {tune, refused, kept})) << accepted;
  }
}

TEST_F(Refine, NamesAModelByItsLaunches) {
  std::string name = name_of_model("bert", tasks_);
  EXPECT_EQ(name, name_of_model("bert", tasks_));
  ++tasks_[0].count;
  EXPECT_NE(name, name_of_model("bert", tasks_));
}

}  // namespace
}  // namespace rung

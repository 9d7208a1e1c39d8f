// What tuning knows of how sure it is, and which entries a later climb measures again.
// SPDX-License-Identifier: Apache-2.0
#include "tune/margin.hpp"

#include "base/atomic_file.hpp"
#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {
namespace {

using scripted::right;
using ::testing::HasSubstr;

// A kernel is right and takes Us; beside a busy neighbour it takes Busy, in which the neighbour has most of the time.
bool busy = false;
template <int Us, int Busy>
void beside_neighbour(const cpu::Call& call) {
  scripted::answer(call, busy ? 0 : Us);
  if (busy && call.part == 0) scripted::Clock::pass_us(Busy * 0.25), scripted::Clock::take_us(Busy * 0.75);
}

class MarginOf : public ::testing::Test {
 protected:
  MarginOf() { busy = false; }
  void set_kernels(std::initializer_list<scripted::NamedRun> softmax) {
    rows.add("softmax", softmax);
    target = rows.target();
    Problem problem{.op = Softmax{}, .inputs = {dense(DType::f32, {2, 8})}, .output = dense(DType::f32, {2, 8})};
    task = {.key = problem_key(problem), .problem = problem, .target = &target};
  }
  // The neighbour makes the slow kernel look like the better one.
  void set_kernels_that_noise_swaps() {
    set_kernels({{"plain", beside_neighbour<1000, 1000>}, {"fast", beside_neighbour<400, 3000>}});
  }
  TunedProblem tuned_with(TuningDatabase& database) {
    tune({task}, database, with_seconds(30));
    const TunedProblem* entry = database.find(task.key);
    return entry ? *entry : TunedProblem{};
  }
  // By a climb of its own, which saves it.
  TunedProblem tuned() {
    TuningDatabase database = open_database(path);
    TunedProblem entry = tuned_with(database);
    EXPECT_TRUE(database.save());
    return entry;
  }
  bool is_valid() {
    TuningDatabase database = open_database(path);
    return valid_entry(database, task) != nullptr;
  }
  void put(const TunedProblem& entry) {
    TuningDatabase database = open_database(path);
    database.put(task.key, entry);
    ASSERT_TRUE(database.save());
  }
  // The slow kernel as the winner, sure or not.
  static TunedProblem swapped(Margin margin) {
    return {{"plain", {}}, {{"plain", {}, 100, "chosen: the default"}, {"fast", {}, 200, ""}}, margin};
  }

  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  TuneTask task;
  TemporaryDirectory directory;
  std::string path = directory / "tuning.json";
};

TEST_F(MarginOf, AQuietMachineHasATightInterval) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}, {"other", right<600>}});
  TunedProblem entry = tuned();
  ASSERT_TRUE(entry.margin);
  EXPECT_NEAR(entry.margin->ratio, 2.5, 1e-9);
  EXPECT_NEAR(entry.margin->ci95.lo, 2.5, 1e-9);
  EXPECT_NEAR(entry.margin->ci95.hi, 2.5, 1e-9);
  EXPECT_EQ(entry.margin->disturbance, 0);
  EXPECT_TRUE(is_sure(entry)) << is_sure(entry).reason;
}

TEST_F(MarginOf, AKeptDefaultIsTheNextBestsRatio) {
  set_kernels({{"plain", right<1000>}, {"slow", right<1250>}, {"slower", right<2000>}});
  EXPECT_NEAR(tuned().margin->ratio, 0.8, 1e-9);
}

TEST_F(MarginOf, TimesThatScatterIsAWideInterval) {
  set_kernels({{"plain", scripted::erratic<1000>}, {"fast", scripted::erratic<400>}});
  TunedProblem entry = tuned();
  ASSERT_TRUE(entry.margin);
  EXPECT_LT(entry.margin->ci95.lo, entry.margin->ratio);
  EXPECT_GT(entry.margin->ci95.hi, entry.margin->ratio);
  EXPECT_THAT(is_sure(entry).reason, HasSubstr("too wide an interval"));
  EXPECT_FALSE(is_valid()) << "for a later climb";
}

TEST_F(MarginOf, ABusyNeighbourTellsHowMuchItTook) {
  set_kernels_that_noise_swaps();
  busy = true;
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice.kernel, "plain");
  EXPECT_NEAR(entry.margin->disturbance, 0.75, 1e-6);
  EXPECT_EQ(is_sure(entry).reason, "other programs had 75 % of the processors meanwhile");
}

TEST_F(MarginOf, ANeighbourOfOneCandidateAloneCounts) {
  busy = true;
  set_kernels({{"plain", beside_neighbour<1000, 1000>}, {"fast", right<400>}, {"other", right<600>}});
  EXPECT_NEAR(tuned().margin->disturbance, 0.75, 1e-6) << "of the first";
  rows = {}, path = directory / "another.json";
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}, {"other", beside_neighbour<600, 600>}});
  EXPECT_NEAR(tuned().margin->disturbance, 0.75, 1e-6) << "of the last";
}

TEST_F(MarginOf, ABusyNeighbourIsMeasuredAgainNextClimb) {
  set_kernels_that_noise_swaps();
  busy = true;
  EXPECT_EQ(tuned().choice.kernel, "plain");
  busy = false;
  EXPECT_FALSE(is_valid()) << "what was measured beside a neighbour is not taken as true";
  EXPECT_EQ(tuned().choice.kernel, "fast");
  EXPECT_TRUE(is_valid());
}

TEST_F(MarginOf, ABusyNeighbourServesItsOwnClimb) {
  set_kernels_that_noise_swaps();
  busy = true;
  TuningDatabase database = open_database(path);
  tuned_with(database);
  busy = false;
  EXPECT_NE(valid_entry(database, task), nullptr);
  EXPECT_EQ(tuned_with(database).choice.kernel, "plain") << "and is not measured twice";
}

TEST_F(MarginOf, AWeakerMarginDoesNotReplaceBetter) {
  set_kernels_that_noise_swaps();
  put({{"fast", {}}, {{"plain", {}, 100, ""}, {"fast", {}, 40, "chosen"}}, Margin{2.5, {2.4, 2.6}, 0.2}});
  busy = true;
  TunedProblem entry = tuned();
  EXPECT_EQ(entry.choice.kernel, "fast");
  EXPECT_DOUBLE_EQ(entry.margin->disturbance, 0.2);
}

TEST_F(MarginOf, AWinnerThatLostIsMeasuredAgain) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}});
  put(swapped({2, {2, 2}, 0}));
  EXPECT_TRUE(is_valid());
  EXPECT_EQ(tuned().choice.kernel, "plain") << "it is sure";
  TuningDatabase database = open_database(path);
  database.mark_lost(task.key);
  ASSERT_TRUE(database.save());
  EXPECT_EQ(is_sure(*open_database(path).find(task.key)).reason, "its winner lost on a whole model");
  EXPECT_FALSE(is_valid());
  EXPECT_EQ(tuned().choice.kernel, "fast");
  EXPECT_TRUE(is_valid()) << "measured again, it is trusted again";
}

TEST_F(MarginOf, ALostWinnerYieldsToAWeakerMargin) {
  set_kernels({{"plain", scripted::erratic<1000>}, {"fast", scripted::erratic<100>}});
  TunedProblem lost = swapped({2, {2, 2}, 0});
  lost.lost = true;
  put(lost);
  EXPECT_EQ(tuned().choice.kernel, "fast");
}

TEST_F(MarginOf, AnEarlierVersionIsNothingAndMeasuredAgain) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}});
  directory.write("tuning.json", R"({"version":1,"devices":{"test device":{")" + library_versions() + R"(":{")" +
                                     task.key + R"(":{"kernel":"plain","params":{},"candidates":[
                                       {"kernel":"plain","params":{},"us":1,"verdict":"chosen: the default"},
                                       {"kernel":"fast","params":{},"us":2,"verdict":"2.00 x"}]}}}}})");
  EXPECT_EQ(is_sure(*open_database(path).find(task.key)).reason, "it does not say how it was measured");
  EXPECT_FALSE(is_valid());
  EXPECT_EQ(tuned().choice.kernel, "fast");
}

TEST_F(MarginOf, APersonNeedsNone) {
  set_kernels({{"plain", right<1000>}, {"fast", right<400>}});
  put({{"plain", {}}, {}});
  EXPECT_TRUE(is_valid());
  EXPECT_EQ(tuned().choice.kernel, "plain");
}

TEST(IsSure, HasStatedLimits) {
  const auto sure = [](Margin margin) { return is_sure({{"a", {}}, {{"a", {}, 1, "chosen"}}, margin}).yes; };
  EXPECT_TRUE(sure({1, {0.91, 1.1}, 0.1}));
  EXPECT_FALSE(sure({1, {0.91, 1.1}, 0.11}));
  EXPECT_FALSE(sure({1, {0.89, 1.1}, 0}));
  EXPECT_TRUE(sure({4, {3.7, 4.4}, 0})) << "relative to the ratio";
}

}  // namespace
}  // namespace rung

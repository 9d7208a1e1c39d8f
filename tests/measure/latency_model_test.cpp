// The model of a launch's time, on cases that are computed by hand.
// SPDX-License-Identifier: Apache-2.0
#include "measure/latency_model.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

// 100 units at 1 GHz; 1 TB/s, of which 800 GB/s are reached; 100 and 10 TFLOP/s, of which half of the narrow ones are.
constexpr MachineRates kRates{.units = 100,
                              .clock_hz = 1e9,
                              .bytes = 1e12,
                              .narrow_flops = 100e12,
                              .f32_flops = 10e12,
                              .bytes_share = 0.8,
                              .narrow_share = 0.5,
                              .boundary_s = 1e-6};
constexpr ModelParameters kParameters{.f32_share = 0.25, .path_bytes = 64, .round_s = 3e-6};

OpWork work(Cost cost, LaunchShape shape, bool narrow = true) {
  return {.cost = cost, .narrow = narrow, .launches = {shape}, .executed = {}};
}
PredictedTime predicted(const OpWork& asked) { return predict(asked, kRates, kParameters); }
constexpr double kClose = 1e-15;  // seconds

TEST(LatencyModel, TheFloorIsByPublishedRatesAlone) {
  EXPECT_NEAR(predicted(work({2e9, 8e6}, {1, 1})).floor_s, 20e-6, kClose);
  EXPECT_NEAR(predicted(work({2e9, 80e6}, {1, 1})).floor_s, 80e-6, kClose);
  EXPECT_NEAR(predicted(work({2e9, 8e6}, {1, 1}, false)).floor_s, 200e-6, kClose);
}

TEST(LatencyModel, MemoryIsReachedByItsShare) {
  const PredictedTime got = predicted(work({0, 80e6}, {100, 1}));
  EXPECT_EQ(got.bound, WorkBound::memory);
  EXPECT_NEAR(got.work_s, 100e-6, kClose);
  EXPECT_NEAR(got.launch_s, 4e-6, kClose);
  EXPECT_NEAR(got.seconds(), 104e-6, kClose);
}

// Ten blocks: a tenth of the units, with 64 bytes a cycle each.
TEST(LatencyModel, FewBlocksDoNotReachMemory) {
  const PredictedTime got = predicted(work({0, 6.4e6}, {10, 1}));
  EXPECT_EQ(got.bound, WorkBound::path);
  EXPECT_NEAR(got.work_s, 10e-6, kClose);
}

TEST(LatencyModel, RatesProductsByTheirTypesShare) {
  EXPECT_NEAR(predicted(work({1e9, 0}, {100, 1})).work_s, 20e-6, kClose);
  EXPECT_NEAR(predicted(work({1e9, 0}, {100, 1}, false)).work_s, 400e-6, kClose);
  EXPECT_EQ(predicted(work({1e9, 0}, {100, 1})).bound, WorkBound::products);
}

TEST(LatencyModel, TheLastRoundOfBlocksIsNotFull) {
  EXPECT_DOUBLE_EQ(quantisation(100, 100), 1);
  EXPECT_DOUBLE_EQ(quantisation(150, 100), 200.0 / 150);
  EXPECT_DOUBLE_EQ(quantisation(25, 100), 4);
  EXPECT_NEAR(predicted(work({1e9, 0}, {150, 1})).work_s, 20e-6 * 200 / 150, kClose);
}

// 250 blocks: three rounds of one a unit, two of two.
TEST(LatencyModel, RoundsFollowOccupancy) {
  EXPECT_NEAR(predicted(work({}, {250, 1})).launch_s, 1e-6 + 3 * 3e-6, kClose);
  EXPECT_NEAR(predicted(work({}, {250, 2})).launch_s, 1e-6 + 2 * 3e-6, kClose);
}

TEST(LatencyModel, EveryLaunchHasABoundary) {
  OpWork two = work({1e9, 0}, {100, 1});
  two.launches.push_back({1, 1});
  EXPECT_NEAR(predicted(two).launch_s, 8e-6, kClose);
  EXPECT_NEAR(predicted(two).work_s, 20e-6, kClose) << "which the launch of most blocks does";
}

// 10,000 vector instructions a unit; 2,000 cycles of local memory a unit; 4 GFLOP with padding at half of the rate.
TEST(LatencyModel, WhatIsExecutedBoundsTheWork) {
  OpWork asked = work({1e9, 0}, {100, 1});
  asked.executed.vector = 1e6;
  EXPECT_EQ(predicted(asked).bound, WorkBound::products) << "10 of 20 us";
  asked.executed.vector = 3e6;
  EXPECT_EQ(predicted(asked).bound, WorkBound::vector);
  EXPECT_NEAR(predicted(asked).work_s, 30e-6, kClose);
  asked.executed.lds_cycles = 4e6;
  EXPECT_EQ(predicted(asked).bound, WorkBound::lds);
  EXPECT_NEAR(predicted(asked).work_s, 40e-6, kClose);
  asked.executed.narrow_flops = 4e9;
  EXPECT_EQ(predicted(asked).bound, WorkBound::matrix);
  EXPECT_NEAR(predicted(asked).work_s, 80e-6, kClose);
  asked.executed.f32_flops = 1e9;
  EXPECT_NEAR(predicted(asked).work_s, 480e-6, kClose);
}

TEST(LatencyModel, ExecutedWorkWaitsForTheLastRound) {
  OpWork asked = work({}, {25, 1});
  asked.executed.vector = 1e6;
  EXPECT_NEAR(predicted(asked).work_s, 40e-6, kClose);
}

TEST(LatencyModel, WhatLaunchesNothingTakesNothing) {
  EXPECT_EQ(predicted({.cost = {}, .narrow = false, .launches = {}, .executed = {}}).seconds(), 0);
}

}  // namespace
}  // namespace rung

// Measured peaks are of a size that hardware has.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/peaks.hpp"

#include <gtest/gtest.h>

namespace rung::cpu {
namespace {

TEST(Peaks, OfReadingLieBetweenDiskAndCache) {
  Team team(2);
  double gbps = measure_read_gbps(team);
  EXPECT_GT(gbps, 0.1);
  EXPECT_LT(gbps, 2000);
}

TEST(Peaks, OfMultiplyAddsAreCounted) {
  Team team(1);
  double gflops = measure_fma_gflops(team);
  EXPECT_GT(gflops, 0.1);
  EXPECT_LT(gflops, 1000);
}

TEST(Peaks, OfOneThreadAreTheCostOfCalls) {
  Team team(1);
  EXPECT_LT(measure_handoff_us(team), 10);
  EXPECT_LT(measure_barrier_us(team), 10);
}

TEST(Peaks, OfHandingOverArePositive) {
  Team team(2);
  EXPECT_GT(measure_handoff_us(team), 0);
  EXPECT_GT(measure_barrier_us(team), 0);
}

}  // namespace
}  // namespace rung::cpu

// Clocks, power and throttling from sensor readings.
// SPDX-License-Identifier: Apache-2.0
#include "measure/device_load.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rung {
namespace {

SensorReading reading(double seconds, double mhz, double watts) {
  SensorReading made{.seconds = seconds};
  made.sm_mhz = mhz, made.power_w = watts;
  return made;
}

TEST(DeviceLoad, TakesPowerFromAnEnergyCounterWherePresent) {
  std::vector<SensorReading> readings{reading(10, 1980, 90), reading(11, 1980, 100), reading(12, 1755, 110)};
  readings[0].energy_j = 5000, readings[2].energy_j = 5700;
  DeviceLoad load = summarize_load(readings, 100);
  EXPECT_TRUE(load.counted);
  EXPECT_DOUBLE_EQ(load.power_w, 350);
  EXPECT_DOUBLE_EQ(load.energy_mj, 7000);
  EXPECT_NEAR(load.runs_per_joule(), 1 / 7.0, 1e-12);
}

TEST(DeviceLoad, TakesPowerFromSamplesWithoutACounter) {
  std::vector<SensorReading> readings{reading(0, 1980, 300), reading(2, 1980, 400)};
  DeviceLoad load = summarize_load(readings, 10);
  EXPECT_FALSE(load.counted);
  EXPECT_DOUBLE_EQ(load.power_w, 350);
  EXPECT_DOUBLE_EQ(load.energy_mj, 70e3);
}

TEST(DeviceLoad, GivesTheClockMostlySeenAndTheLeast) {
  std::vector<SensorReading> readings{reading(0, 345, 80), reading(1, 1980, 80), reading(2, 1980, 80)};
  readings[1].celsius = 61, readings[2].celsius = 55;
  DeviceLoad load = summarize_load(readings, 1);
  EXPECT_DOUBLE_EQ(load.sm_mhz, 1980);
  EXPECT_DOUBLE_EQ(load.sm_mhz_least, 345);
  EXPECT_DOUBLE_EQ(load.celsius, 61);
}

TEST(DeviceLoad, GivesTheUsualMemoryClockAndPowerLimit) {
  std::vector<SensorReading> readings(3);
  readings[0].memory_mhz = 100, readings[1].memory_mhz = 2600, readings[2].memory_mhz = 2600;
  readings[0].power_limit_w = 700, readings[1].power_limit_w = 700, readings[2].power_limit_w = 500;
  DeviceLoad load = summarize_load(readings, 1);
  EXPECT_DOUBLE_EQ(load.memory_mhz, 2600);
  EXPECT_DOUBLE_EQ(load.power_limit_w, 700);
}

TEST(DeviceLoad, DistrustsCountersThatStandStillOrFall) {
  for (double joules : {5000.0, 4000.0}) {
    std::vector<SensorReading> readings{reading(0, 1980, 300), reading(2, 1980, 400)};
    readings[0].energy_j = 5000, readings[1].energy_j = joules;
    DeviceLoad load = summarize_load(readings, 10);
    EXPECT_FALSE(load.counted);
    EXPECT_DOUBLE_EQ(load.power_w, 350);
  }
}

TEST(DeviceLoad, SaysHowOftenAndWhyClocksAreThrottled) {
  std::vector<SensorReading> readings(4);
  readings[1].throttling = {"power cap"};
  readings[2].throttling = {"power cap", "heat"};
  DeviceLoad load = summarize_load(readings, 1);
  EXPECT_DOUBLE_EQ(load.throttled.at("power cap"), 0.5);
  EXPECT_EQ(describe_throttling(load), "heat in 25 % of 4 samples, power cap in 50 % of 4 samples");
}

TEST(DeviceLoad, LeavesUnknownWhatIsNotTold) {
  DeviceLoad load = summarize_load(std::vector<SensorReading>(2), 5);
  for (double value : {load.sm_mhz, load.memory_mhz, load.power_w, load.power_limit_w, load.energy_mj, load.celsius})
    EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(describe_throttling(load), "");
  EXPECT_EQ(summarize_load({}, 5).samples, 0);
}

}  // namespace
}  // namespace rung

// The load of a device while it was measured: clocks, power, heat, and what held its clocks down.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rung {

inline constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();

// A reading of a device's sensors; kNotTold where it has none.
struct SensorReading {
  double seconds = 0;  // when, on the monotonic clock
  double sm_mhz = kNotTold, memory_mhz = kNotTold, celsius = kNotTold;
  double power_w = kNotTold, power_limit_w = kNotTold;
  double energy_j = kNotTold;                // since some moment in the past
  std::vector<std::string_view> throttling;  // the reasons for clocks below the load's demand, in words
};

struct DeviceLoad {
  double seconds = 0;
  int runs = 0, samples = 0;
  double sm_mhz = kNotTold, sm_mhz_least = kNotTold, memory_mhz = kNotTold;  // medians
  double celsius = kNotTold;                                                 // the highest
  double power_w = kNotTold, power_limit_w = kNotTold;                       // mean, idle time between runs included
  double energy_mj = kNotTold;                                               // of one run, idle time included
  bool counted = false;                     // power is from the device's energy counter; else the mean of samples
  std::map<std::string, double> throttled;  // share of the samples by reason
  std::string unknown;                      // why no sensor told anything; empty: one did
  double runs_per_joule() const { return 1e3 / energy_mj; }
};

// Summarises readings in order, the first and the last of which are from the ends of the measurement.
DeviceLoad summarize_load(std::span<const SensorReading> readings, int runs);

// Returns a text like "power cap in 34 % of 50 samples, heat in 2 % of 50 samples"; empty if nothing was throttled.
std::string describe_throttling(const DeviceLoad& load);

}  // namespace rung

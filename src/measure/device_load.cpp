// Summarises sensor readings: medians, means and shares.
// SPDX-License-Identifier: Apache-2.0
#include "measure/device_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"

namespace rung {
namespace {

// Returns the readings of one quantity, where the sensor told it.
std::vector<double> told(std::span<const SensorReading> readings, double SensorReading::*which) {
  std::vector<double> values;
  for (const SensorReading& reading : readings)
    if (std::isfinite(reading.*which)) values.push_back(reading.*which);
  return values;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return kNotTold;
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

DeviceLoad summarize_load(std::span<const SensorReading> readings, int runs) {
  DeviceLoad load{.runs = runs, .samples = static_cast<int>(readings.size())};
  if (readings.empty()) return load;
  const SensorReading &first = readings.front(), &last = readings.back();
  load.seconds = last.seconds - first.seconds;
  auto clocks = told(readings, &SensorReading::sm_mhz), heat = told(readings, &SensorReading::celsius);
  load.sm_mhz = median(clocks);
  if (!clocks.empty()) load.sm_mhz_least = std::ranges::min(clocks);
  if (!heat.empty()) load.celsius = std::ranges::max(heat);
  load.memory_mhz = median(told(readings, &SensorReading::memory_mhz));
  load.power_limit_w = median(told(readings, &SensorReading::power_limit_w));
  double joules = last.energy_j - first.energy_j;
  load.counted = joules > 0 && load.seconds > 0;
  load.power_w = load.counted ? joules / load.seconds : mean(told(readings, &SensorReading::power_w));
  if (runs > 0) load.energy_mj = load.power_w * load.seconds / runs * 1e3;
  for (const SensorReading& reading : readings)
    for (std::string_view reason : reading.throttling) load.throttled[std::string(reason)] += 1;
  for (auto& [reason, share] : load.throttled) share /= load.samples;
  return load;
}

std::string describe_throttling(const DeviceLoad& load) {
  std::string text;
  for (const auto& [reason, share] : load.throttled)
    text += fmt::format("{}{} in {:.0f} % of {} samples", text.empty() ? "" : ", ", reason, share * 100, load.samples);
  return text;
}

}  // namespace rung

// Writes sentences on a device's load; leaves out values that are unknown.
// SPDX-License-Identifier: Apache-2.0
#include "report/load_lines.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/format.hpp"

namespace rung::report {

std::string cadence_name(double rate_hz) { return rate_hz > 0 ? fmt::format("at {:g} Hz", rate_hz) : "back to back"; }

namespace {

std::string energy(double millijoules) {
  return millijoules < 1000 ? significant(millijoules) + " mJ" : significant(millijoules * 1e-3) + " J";
}

}  // namespace

std::string load_text(const DeviceLoad& load) {
  if (!load.unknown.empty()) return "clocks and power are not known: " + printable(load.unknown);
  std::string text;
  auto add = [&](double value, const std::string& what) {
    if (std::isfinite(value)) text += (text.empty() ? "" : ", ") + what;
  };
  std::string limit = std::isfinite(load.power_limit_w) ? fmt::format(" of {} W", fixed(load.power_limit_w, 0)) : "";
  add(load.power_w, fmt::format("{} W{}", fixed(load.power_w, 0), limit));
  add(load.energy_mj,
      fmt::format("{} per run, {} runs per joule", energy(load.energy_mj), significant(load.runs_per_joule())));
  std::string least = load.sm_mhz_least < load.sm_mhz ? fmt::format(" (least {})", fixed(load.sm_mhz_least, 0)) : "";
  add(load.sm_mhz, fmt::format("SM clock {} MHz{}", fixed(load.sm_mhz, 0), least));
  add(load.memory_mhz, fmt::format("memory clock {} MHz", fixed(load.memory_mhz, 0)));
  add(load.celsius, fmt::format("at most {} °C", fixed(load.celsius, 0)));
  return text.empty() ? "the device tells nothing of clocks and power" : text;
}

std::string disturbance_line(const Disturbance& disturbance) {
  const std::string text = disturbance.text();
  return text.empty() ? text : "DISTURBED: " + text;
}

std::vector<std::string> load_lines(const std::vector<LoadedRuns>& loads, Clock clock) {
  std::vector<std::string> lines;
  for (const LoadedRuns& runs : loads) {
    std::string cadence = cadence_name(runs.rate_hz);
    lines.push_back(
        fmt::format("{}: {}; {}", cadence, duration_ms(runs.latency.median_ms, clock), load_text(runs.load)));
    if (!runs.load.throttled.empty())
      lines.push_back(fmt::format("THROTTLED {}: {}", cadence, printable(describe_throttling(runs.load))));
  }
  return lines;
}

}  // namespace rung::report

// Reads /proc, /sys and uname.
// SPDX-License-Identifier: Apache-2.0
#include "measure/environment.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "base/version.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

// The values of all "key : value" or "key=value" lines of a file.
std::vector<std::string> fields_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    size_t mark = line.find_first_not_of(" \t", key.size());
    if (mark == std::string::npos || (line[mark] != ':' && line[mark] != '=')) continue;
    size_t value = line.find_first_not_of(" \t\"", mark + 1);
    if (value != std::string::npos) found.push_back(line.substr(value, line.find_last_not_of(" \t\"") - value + 1));
  }
  return found;
}
std::string field_of(const std::string& path, std::string_view key) {
  auto found = fields_of(path, key);
  return found.empty() ? "unknown" : found.front();
}

double mean_megahertz() {
  double sum = 0;
  auto values = fields_of("/proc/cpuinfo", "cpu MHz");
  for (const auto& value : values) sum += std::strtod(value.c_str(), nullptr);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::string hypervisor() {
  for (const auto& flags : fields_of("/proc/cpuinfo", "flags"))
    if ((" " + flags + " ").find(" hypervisor ") != std::string::npos) {
      std::string product = first_line("/sys/class/dmi/id/product_name");
      return product == "unknown" ? "yes" : "yes (" + product + ")";
    }
  return "none";
}

std::string memory_gib() {
  double kib = std::strtod(field_of("/proc/meminfo", "MemTotal").c_str(), nullptr);
  return kib > 0 ? fmt::format("{:.1f} GiB", kib / (1 << 20)) : "unknown";
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

// The first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal ...", in clock ticks.
void read_processor_time(NoiseSample& sample) {
  std::istringstream line(first_line("/proc/stat"));
  std::string word;
  line >> word;
  double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)), value = 0;
  for (int column = 0; column < 8 && line >> value; ++column) {
    sample.total_s += value * tick;
    if (column == 7) sample.steal_s = value * tick;
  }
}

}  // namespace

std::map<std::string, std::string> read_environment() {
  utsname system{};
  uname(&system);
  double megahertz = mean_megahertz();
  return {{"processor", field_of("/proc/cpuinfo", "model name")},
          {"microcode", field_of("/proc/cpuinfo", "microcode")},
          {"cores", fmt::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"os", field_of("/etc/os-release", "PRETTY_NAME")},
          {"compiler", compiler()},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"frequency", megahertz > 0 ? fmt::format("{:.0f} MHz", megahertz) : "unknown"},
          {"load", first_line("/proc/loadavg")},
          {"hypervisor", hypervisor()},
          {"memory", memory_gib()},
          {"rung", std::string(kRungVersion)}};
}

NoiseSample read_noise_sample() {
  NoiseSample sample;
  read_processor_time(sample);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  sample.preemptions = usage.ru_nivcsw;
  sample.megahertz = mean_megahertz();
  sample.seconds = static_cast<double>(now_ns()) * 1e-9;
  return sample;
}

std::string describe_noise(const NoiseSample& before, const NoiseSample& after) {
  std::string text;
  auto note = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  double seconds = after.seconds - before.seconds, total = after.total_s - before.total_s;
  double stolen = after.steal_s - before.steal_s;
  auto preemptions = static_cast<double>(after.preemptions - before.preemptions);
  if (total > 0 && stolen > 0.01 * total) note(fmt::format("{:.0f} % of processor time stolen", 100 * stolen / total));
  if (seconds > 0 && preemptions > 20 && preemptions > 20 * seconds)
    note(fmt::format("preempted {:.0f} times a second", preemptions / seconds));
  if (after.megahertz > 0 && after.megahertz < 0.95 * before.megahertz)
    note(fmt::format("clock fell from {:.0f} to {:.0f} MHz", before.megahertz, after.megahertz));
  return text.empty() ? text : "noisy machine: " + text;
}

}  // namespace rung

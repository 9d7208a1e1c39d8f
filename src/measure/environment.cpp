// Reads /proc, /sys and uname.
// SPDX-License-Identifier: Apache-2.0
#include "measure/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "base/version.hpp"

namespace rung {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

// Returns the values of all "key : value" or "key=value" lines of a file.
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

}  // namespace rung

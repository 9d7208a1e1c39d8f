// Reads the files of a machine, and no others.
// SPDX-License-Identifier: Apache-2.0
#include "advise/snapshot.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "advise/knob.hpp"

namespace rung::advise {
namespace {

constexpr size_t kMostBytes = 1 << 20;

constexpr CapturedFile kFiles[] = {
    {"opt/rocm/.info/version", Keep::all},
    {"proc/cmdline", Keep::boot_options},
    {"proc/cpuinfo", Keep::model_name},
    {"proc/self/mounts", Keep::memory_disk},
    {"proc/self/status", Keep::allowed},
    {"proc/sys/kernel/numa_balancing", Keep::all},
    {"proc/sys/kernel/osrelease", Keep::all},
    {"sys/bus/pci/devices/*/class", Keep::all},
    {"sys/bus/pci/devices/*/current_compute_partition", Keep::all},
    {"sys/bus/pci/devices/*/current_link_speed", Keep::all},
    {"sys/bus/pci/devices/*/current_link_width", Keep::all},
    {"sys/bus/pci/devices/*/device", Keep::all},
    {"sys/bus/pci/devices/*/iommu_group/type", Keep::all},
    {"sys/bus/pci/devices/*/max_link_speed", Keep::all},
    {"sys/bus/pci/devices/*/max_link_width", Keep::all},
    {"sys/bus/pci/devices/*/numa_node", Keep::all},
    {"sys/bus/pci/devices/*/power_dpm_force_performance_level", Keep::all},
    {"sys/bus/pci/devices/*/vendor", Keep::all},
    {"sys/devices/system/cpu/*/cpufreq/scaling_governor", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/disable", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/latency", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/name", Keep::all},
    {"sys/devices/system/node/*/cpulist", Keep::all},
    {"sys/devices/system/node/online", Keep::all},
    {"sys/fs/cgroup/cpu.max", Keep::all},
    {"sys/fs/cgroup/cpu.stat", Keep::all},
    {"sys/fs/cgroup/memory.max", Keep::all},
    {"sys/kernel/mm/transparent_hugepage/enabled", Keep::all},
    {"sys/module/amdgpu/version", Keep::all},
    {"sys/module/nvidia/version", Keep::all},
};

// A file of /proc does not say how long it is.
std::string first_bytes(std::istream& stream) {
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < kMostBytes && stream.read(piece.data(), piece.size()).gcount() > 0)
    text.append(piece.data(), static_cast<size_t>(stream.gcount()));
  return text;
}

bool fits(std::string_view pattern, std::string_view path) {
  const auto wanted = parts(pattern, '/'), got = parts(path, '/');
  return std::ranges::equal(wanted, got, [](auto w, auto g) { return w == g || (w == "*" && g != ".."); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string kept_lines(std::string_view text, bool (*keep)(std::string_view)) {
  std::string kept;
  for (const std::string_view line : parts(text, '\n'))
    if (keep(line)) kept += std::string(line) + "\n";
  return kept;
}

// Names of hosts and addresses may stand in the others, such as those of a network boot.
std::string boot_options(std::string_view line) {
  constexpr std::string_view kKnown[] = {"iommu=",
                                         "amd_iommu=",
                                         "intel_iommu=",
                                         "numa_balancing=",
                                         "processor.max_cstate=",
                                         "intel_idle.max_cstate=",
                                         "idle=",
                                         "transparent_hugepage="};
  std::string kept;
  for (const std::string_view word : parts(line, ' '))
    if (std::ranges::any_of(kKnown, [&](auto known) { return word.starts_with(known); }))
      kept += std::string(word) + " ";
  return kept;
}

std::string what_is_kept(Keep keep, const std::string& text) {
  switch (keep) {
    case Keep::all:
      return text;
    case Keep::boot_options:
      return boot_options(trimmed(text));
    case Keep::memory_disk:
      return kept_lines(text, [](std::string_view line) { return line.find(" /dev/shm ") != line.npos; });
    case Keep::allowed:
      return kept_lines(text, [](std::string_view line) {
        return line.starts_with("Cpus_allowed_list:") || line.starts_with("Mems_allowed_list:");
      });
    case Keep::model_name: {
      const size_t begin = text.find("model name");
      return begin == text.npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
    }
  }
  return "";
}

}  // namespace

std::span<const CapturedFile> captured_files() { return kFiles; }

Result<Snapshot> Snapshot::open(const std::string& root) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error)) return bad_file("'{}': wanted a folder", root);
  Snapshot snapshot;
  snapshot.root_ = root;
  if (std::filesystem::weakly_canonical(root, error) == "/") {
    snapshot.environment_ = environment_of_this_process();
  } else {
    std::ifstream file(root + "/environment");
    snapshot.environment_ = parse_environment(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return snapshot;
}

std::optional<std::string> Snapshot::read(std::string_view path) const {
  const auto* file = std::ranges::find_if(kFiles, [&](const auto& f) { return fits(f.pattern, path); });
  const std::string full = root_ + "/" + std::string(path);
  std::error_code error;
  if (file == std::end(kFiles) || !std::filesystem::is_regular_file(full, error)) return {};
  std::ifstream stream(full, std::ios::binary);
  const std::string text = first_bytes(stream);
  if (stream.bad() || text.empty()) return {};
  return std::string(trimmed(what_is_kept(file->keep, text)));
}

std::vector<std::string> Snapshot::list(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(root_ + "/" + std::string(folder), error), end; !error && it != end;
       it.increment(error))
    names.push_back(it->path().filename());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> Snapshot::matches(std::string_view pattern) const {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return read(pattern) ? std::vector{std::string(pattern)} : std::vector<std::string>{};
  std::vector<std::string> found;
  for (const std::string& name : list(pattern.substr(0, star))) {
    std::string path = std::string(pattern.substr(0, star)) + name + std::string(pattern.substr(star + 1));
    if (read(path)) found.push_back(std::move(path));
  }
  return found;
}

}  // namespace rung::advise

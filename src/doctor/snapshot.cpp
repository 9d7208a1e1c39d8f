// Reads the files of a machine, and no others.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/program.hpp"
#include "base/trimmed.hpp"
#include "doctor/acs.hpp"
#include "doctor/kept_words.hpp"
#include "doctor/knob.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/told_versions.hpp"

namespace rung::doctor {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr double kAskSeconds = 10;  // nvidia-smi takes about five to wake eight GPUs without persistence

constexpr CapturedFile kFiles[] = {
    {"opt/rocm/.info/version", Keep::all},
    {"opt/rocm/lib/libMIOpen.so*", Keep::name},
    {"opt/rocm/lib/libamdhip64.so*", Keep::name},
    {"opt/rocm/lib/libhipblaslt.so*", Keep::name},
    {"opt/rocm/lib/librccl.so*", Keep::name},
    {"opt/rocm/lib/librocblas.so*", Keep::name},
    {"proc/cmdline", Keep::boot_options},
    {"proc/cpuinfo", Keep::model_name},
    {"proc/driver/nvidia/gpus/*/information", Keep::gpu_model},
    {"proc/self/mounts", Keep::memory_disk},
    {"proc/self/status", Keep::allowed},
    {"proc/sys/kernel/numa_balancing", Keep::all},
    {"proc/sys/kernel/osrelease", Keep::all},
    {"programs/collect_env", Keep::versions},
    {kNvidiaSettings, Keep::nvidia},
    {"sys/bus/pci/devices/*/class", Keep::all},
    {"sys/bus/pci/devices/*/config", Keep::acs_control},
    {"sys/bus/pci/devices/*/current_compute_partition", Keep::all},
    {"sys/bus/pci/devices/*/current_link_speed", Keep::all},
    {"sys/bus/pci/devices/*/current_link_width", Keep::all},
    {"sys/bus/pci/devices/*/current_memory_partition", Keep::all},
    {"sys/bus/pci/devices/*/device", Keep::all},
    {"sys/bus/pci/devices/*/hwmon/*/power1_cap", Keep::all},
    {"sys/bus/pci/devices/*/hwmon/*/power1_cap_default", Keep::all},
    {"sys/bus/pci/devices/*/iommu_group/type", Keep::all},
    {"sys/bus/pci/devices/*/max_link_speed", Keep::all},
    {"sys/bus/pci/devices/*/max_link_width", Keep::all},
    {"sys/bus/pci/devices/*/numa_node", Keep::all},
    {"sys/bus/pci/devices/*/power_dpm_force_performance_level", Keep::all},
    {"sys/bus/pci/devices/*/vendor", Keep::all},
    {"sys/class/kfd/kfd/topology/nodes/*/io_links/*/properties", Keep::topology},
    {"sys/class/kfd/kfd/topology/nodes/*/properties", Keep::topology},
    {"sys/devices/system/cpu/*/cpufreq/scaling_governor", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/disable", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/latency", Keep::all},
    {"sys/devices/system/cpu/cpu0/cpuidle/*/name", Keep::all},
    {"sys/devices/system/node/*/cpulist", Keep::all},
    {"sys/devices/system/node/online", Keep::all},
    {"sys/fs/cgroup/cpu.max", Keep::all},
    {"sys/fs/cgroup/cpu.stat", Keep::all},
    {"sys/fs/cgroup/cpu/cpu.cfs_period_us", Keep::all},
    {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", Keep::all},
    {"sys/fs/cgroup/cpu/cpu.stat", Keep::all},
    {"sys/fs/cgroup/memory.max", Keep::all},
    {"sys/kernel/mm/transparent_hugepage/enabled", Keep::all},
    {"sys/module/amdgpu/parameters/noretry", Keep::all},
    {"sys/module/amdgpu/version", Keep::all},
    {"sys/module/nvidia/version", Keep::all},
    {"usr/lib/x86_64-linux-gnu/libcublasLt.so*", Keep::name},
    {"usr/lib/x86_64-linux-gnu/libcudnn.so*", Keep::name},
    {"usr/lib/x86_64-linux-gnu/libnccl.so*", Keep::name},
    {"usr/local/cuda/lib64/libcublasLt.so*", Keep::name},
    {"usr/local/cuda/version.json", Keep::cuda_version},
};

// Returns whether a path is a library's version: "libcudnn.so.9.1.0", with at most four numbers after ".so".
bool is_version_of_library(std::string_view path) {
  const std::string_view version = path.substr(std::min(path.find(".so") + 3, path.size()));
  return version.find_first_not_of("0123456789.") == version.npos && std::ranges::count(version, '.') <= 4;
}

// Reads until the end or kMostBytes: a file of /proc does not say how long it is.
std::string first_bytes(std::istream& stream) {
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < kMostBytes && stream.read(piece.data(), piece.size()).gcount() > 0)
    text.append(piece.data(), static_cast<size_t>(stream.gcount()));
  return text;
}

bool fits_name(std::string_view pattern, std::string_view name) {
  if (name == ".." || !pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool fits(std::string_view pattern, std::string_view path) {
  return std::ranges::equal(parts(pattern, '/'), parts(path, '/'), fits_name);
}

std::string kept_lines(std::string_view text, bool (*keep)(std::string_view)) {
  std::string kept;
  for (const std::string_view line : parts(text, '\n'))
    if (keep(line)) kept += std::string(line) + "\n";
  return kept;
}

// Keeps known options only: names of hosts and addresses may stand in the others, such as those of a network boot.
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

std::string line_with(const std::string& text, std::string_view words) {
  const size_t begin = text.find(words);
  return begin == text.npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

// Returns only the size of the mount of /dev/shm: other options name users.
std::string memory_disk(const std::string& text) {
  for (const std::string_view line : parts(text, '\n')) {
    if (line.find(" /dev/shm ") == line.npos) continue;
    for (const std::string_view word : parts(line, ' '))
      for (const std::string_view option : parts(word, ','))
        if (option.starts_with("size=")) return "/dev/shm " + std::string(option);
  }
  return "";
}

bool is_of_topology(std::string_view line) {
  constexpr std::string_view kKnown[] = {"gfx_target_version ", "simd_count ", "simd_per_cu ", "num_xcc ", "type ",
                                         "node_from ",          "node_to "};
  return std::ranges::any_of(kKnown, [&](auto known) { return line.starts_with(known); });
}

std::string what_is_kept(Keep keep, const std::string& text) {
  switch (keep) {
    case Keep::all:
      return text;
    case Keep::boot_options:
      return boot_options(trimmed(text));
    case Keep::memory_disk:
      return memory_disk(text);
    case Keep::allowed:
      return kept_lines(text, [](std::string_view line) {
        return line.starts_with("Cpus_allowed_list:") || line.starts_with("Mems_allowed_list:");
      });
    case Keep::model_name:
      return line_with(text, "model name");
    case Keep::name:
      break;
    case Keep::topology:
      return kept_lines(text, is_of_topology);
    case Keep::gpu_model:
      return line_with(text, "Model:");
    case Keep::acs_control:
      return acs_control(text);
    case Keep::cuda_version:
      return line_with(text, "\"version\"");
    case Keep::nvidia:
      return written(read_nvidia_settings(text));
    case Keep::versions:
      return written_versions(text);
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
    snapshot.is_this_machine_ = true;
    snapshot.environment_ = environment_of_this_process();
  } else {
    std::ifstream file(root + "/environment");
    snapshot.environment_ = parse_environment(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return snapshot;
}

Snapshot::Snapshot(ToldMachine told) : environment_(told.environment.value_or(Environment{})), told_(std::move(told)) {}

// Asks the driver's own program: an NVIDIA driver tells its settings to no other.
const std::string& Snapshot::nvidia_settings() const {
  if (!nvidia_) {
    nvidia_.emplace();
    std::error_code error;
    if (!std::filesystem::exists("/proc/driver/nvidia/version", error)) return *nvidia_;
    const auto said = ask_program("/usr/bin/env", {"nvidia-smi", "-q"}, kAskSeconds);
    if (said && said->exit_code == 0) nvidia_ = said->output;
  }
  return *nvidia_;
}

// Returns a file's text. Empty: there is no such file, or nothing in it.
std::string Snapshot::text_of(std::string_view path) const {
  if (told_) {
    const auto told = told_->files.find(path);
    return told == told_->files.end() ? "" : told->second.content;
  }
  if (is_this_machine_ && path == kNvidiaSettings) return nvidia_settings();
  std::ifstream stream(root_ + "/" + std::string(path), std::ios::binary);
  const std::string text = first_bytes(stream);
  return stream.bad() ? "" : text;
}

bool Snapshot::has(std::string_view path) const {
  if (told_) return told_->files.contains(path);
  if (is_this_machine_ && path == kNvidiaSettings) return !nvidia_settings().empty();
  std::error_code error;
  return std::filesystem::is_regular_file(root_ + "/" + std::string(path), error);
}

std::string Snapshot::place_of(const std::string& path) const {
  if (!told_) return path;
  const auto told = told_->files.find(path);
  if (told == told_->files.end()) return path;
  const size_t name = path.rfind('/'), folder = name == path.npos || name == 0 ? path.npos : path.rfind('/', name - 1);
  return fmt::format("{} ({})", told->second.place, path.substr(folder == path.npos ? 0 : folder + 1));
}

std::optional<std::string> Snapshot::read(std::string_view path) const {
  const auto* file = std::ranges::find_if(kFiles, [&](const auto& f) { return fits(f.pattern, path); });
  if (file == std::end(kFiles) || !has(path)) return {};
  if (file->keep == Keep::name) return is_version_of_library(path) ? std::optional<std::string>("there") : std::nullopt;
  const std::string text = text_of(path);
  if (text.empty()) return {};
  std::string kept(trimmed(what_is_kept(file->keep, text)));
  const bool is_ours = file->keep == Keep::nvidia || file->keep == Keep::versions;  // filtered word by word already
  const bool product = file->keep == Keep::model_name || file->keep == Keep::gpu_model;
  if (!is_ours) kept = kept_words(kept, product ? Vocabulary::products : Vocabulary::settings);
  const bool wants_content = is_ours || file->keep == Keep::acs_control;
  return kept.empty() && wants_content ? std::nullopt : std::optional(kept);
}

std::vector<std::string> Snapshot::list(std::string_view folder) const {
  std::vector<std::string> names;
  if (told_) {
    const std::string inside = std::string(folder) + (folder.ends_with('/') ? "" : "/");
    for (auto at = told_->files.lower_bound(inside); at != told_->files.end() && at->first.starts_with(inside); ++at) {
      const std::string name = at->first.substr(inside.size(), at->first.find('/', inside.size()) - inside.size());
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator it(root_ + "/" + std::string(folder), error), end; !error && it != end;
       it.increment(error))
    names.push_back(it->path().filename());
  std::ranges::sort(names);
  return names;
}

bool Snapshot::is_empty() const {
  return environment_.empty() &&
         std::ranges::all_of(kFiles, [&](const CapturedFile& file) { return matches(file.pattern).empty(); });
}

// Goes name by name, so that it looks into no folder that the pattern does not lead to.
std::vector<std::string> Snapshot::matches(std::string_view pattern) const {
  std::vector<std::string> paths{""};
  for (const std::string_view wanted : parts(pattern, '/')) {
    std::vector<std::string> longer;
    for (const std::string& path : paths) {
      const std::string folder = path.empty() ? "" : path + "/";
      if (!wanted.ends_with('*')) {
        longer.push_back(folder + std::string(wanted));
        continue;
      }
      for (const std::string& name : list(path))
        if (fits_name(wanted, name)) longer.push_back(folder + name);
    }
    paths = std::move(longer);
  }
  std::erase_if(paths, [&](const std::string& path) { return !read(path); });
  return paths;
}

}  // namespace rung::doctor

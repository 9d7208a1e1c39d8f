// The list of checks, and the checks for which a machine tells enough.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks.hpp"

#include <algorithm>

#include "doctor/knob.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/told_versions.hpp"

namespace rung::doctor {
namespace {

constexpr std::string_view kAmd = "AMD", kNvidia = "NVIDIA", kAny = "";

#define RUNG_GPU_FILE(name) "sys/bus/pci/devices/*/" name

constexpr Check kChecks[] = {
    {"numa_balancing", kAny, "proc/sys/kernel/numa_balancing", checks::numa_balancing},
    {"gpu_affinity", kAny, "proc/self/status&" RUNG_GPU_FILE("numa_node"), checks::gpu_affinity},
    {"governor", kAny, "sys/devices/system/cpu/*/cpufreq/scaling_governor", checks::governor},
    {"idle_states", kAny, "sys/devices/system/cpu/cpu0/cpuidle/*/latency", checks::idle_states},
    {"huge_pages", kAny, "sys/kernel/mm/transparent_hugepage/enabled", checks::huge_pages},
    {"iommu", kAny, RUNG_GPU_FILE("iommu_group/type") "|proc/cmdline", checks::iommu},
    {"access_control", kAny, RUNG_GPU_FILE("config"), checks::access_control},
    {"pci_link", kAny, RUNG_GPU_FILE("current_link_width") "&" RUNG_GPU_FILE("max_link_width"), checks::pci_link},
    {"gpu_clocks", kAmd, RUNG_GPU_FILE("power_dpm_force_performance_level"), checks::gpu_clocks},
    {"gpu_clocks", kNvidia, "programs/nvidia-smi:Clocks Event Reasons", checks::nvidia_clocks},
    {"power_cap", kAmd, RUNG_GPU_FILE("hwmon/*/power1_cap") "&" RUNG_GPU_FILE("hwmon/*/power1_cap_default"),
     checks::power_cap},
    {"power_cap", kNvidia, "programs/nvidia-smi:Default Power Limit", checks::nvidia_power_cap},
    {"gpu_partition", kAmd, RUNG_GPU_FILE("current_compute_partition"), checks::gpu_partition},
    {"gpu_partition", kNvidia, "programs/nvidia-smi:MIG Mode", checks::nvidia_partition},
    {"memory_partition", kAmd, RUNG_GPU_FILE("current_memory_partition"), checks::memory_partition},
    {"memory_errors", kNvidia, "programs/nvidia-smi:ECC Mode", checks::memory_errors},
    {"persistence", kNvidia, "programs/nvidia-smi:Persistence Mode", checks::persistence},
    {"gpu_group", kAmd, "sys/class/kfd/kfd/topology/nodes/*/io_links/*/properties", checks::gpu_group},
    {"page_faults", kAmd, "sys/module/amdgpu/parameters/noretry", checks::page_faults},
    {"cpu_limit", kAny, "sys/fs/cgroup/cpu.max|sys/fs/cgroup/cpu/cpu.cfs_quota_us", checks::cpu_limit},
    {"memory_limit", kAny, "sys/fs/cgroup/memory.max", checks::memory_limit},
    {"shared_memory", kAny, "proc/self/mounts", checks::shared_memory},
};

#undef RUNG_GPU_FILE

bool is_told(const Snapshot& machine, std::string_view need) {
  const size_t colon = need.find(':');
  const std::string_view words = colon == need.npos ? "" : need.substr(colon + 1);
  return std::ranges::any_of(machine.matches(need.substr(0, colon)), [&](const std::string& path) {
    return machine.read(path)->find(words) != std::string::npos;
  });
}

bool are_told(const Snapshot& machine, std::string_view needs) {
  return std::ranges::all_of(parts(needs, '&'), [&](std::string_view all) {
    return std::ranges::any_of(parts(all, '|'), [&](std::string_view one) { return is_told(machine, one); });
  });
}

// Returns whether there may be GPUs of a vendor: a text that tells of no GPU leaves it open.
bool may_have(const Snapshot& machine, std::string_view vendor) {
  std::vector<std::string> vendors;
  for (const Gpu& gpu : gpus_of(machine)) vendors.push_back(gpu.vendor);
  for (const auto& [name, value] : read_versions(machine.read(kVersions).value_or("")))
    if (name.starts_with("GPU ")) vendors.emplace_back(value.find("NVIDIA") == value.npos ? kAmd : kNvidia);
  return vendors.empty() || std::ranges::find(vendors, vendor) != vendors.end();
}

}  // namespace

std::span<const Check> system_checks() { return kChecks; }

std::vector<std::string_view> unknown_checks(const Snapshot& machine) {
  std::vector<std::string_view> unknown;
  for (const Check& check : system_checks()) {
    if (!check.vendor.empty() && !may_have(machine, check.vendor)) continue;
    const bool is_listed = std::ranges::find(unknown, check.name) != unknown.end();
    if (!is_listed && !are_told(machine, check.needs)) unknown.push_back(check.name);
  }
  if (!machine.tells_environment()) unknown.emplace_back("environment");
  return unknown;
}

}  // namespace rung::doctor

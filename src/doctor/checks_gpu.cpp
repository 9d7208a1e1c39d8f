// Checks the setup of GPUs and of several together: power, memory, page faults, bridges, groups.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

constexpr std::string_view kNodes = "sys/class/kfd/kfd/topology/nodes/";
constexpr int64_t kXgmi = 11;         // a link's type, as the driver numbers them
constexpr int64_t kFullGroup = 8;     // GPUs of an MI300X platform, each linked with all others
constexpr uint32_t kPeerBits = 0x1d;  // source validation, redirection of requests and completions, upstream forwarding

int64_t number(std::string_view text, int base = 10) {
  int64_t n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n, base);
  return n;
}

// Reads lines "name value".
std::map<std::string, int64_t, std::less<>> properties(const std::string& text) {
  std::map<std::string, int64_t, std::less<>> found;
  for (const std::string_view line : parts(text, '\n'))
    if (const size_t blank = line.find(' '); blank != line.npos)
      found.insert_or_assign(std::string(line.substr(0, blank)), number(line.substr(blank + 1)));
  return found;
}

int64_t get(const std::map<std::string, int64_t, std::less<>>& all, std::string_view name) {
  const auto it = all.find(name);
  return it == all.end() ? -1 : it->second;
}

// Returns the name of a version: 90402 is gfx942, with the stepping in hexadecimal.
std::string architecture(int64_t version) {
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::set<int64_t> linked_with(const Snapshot& machine, const std::string& node, const std::set<int64_t>& gpus) {
  std::set<int64_t> others;
  for (const std::string& path : machine.matches(fmt::format("{}{}/io_links/*/properties", kNodes, node))) {
    const auto link = properties(*machine.read(path));
    if (get(link, "type") == kXgmi && gpus.contains(get(link, "node_to"))) others.insert(get(link, "node_to"));
  }
  return others;
}

// Returns the number of devices that a variable lets through; -1: it is not set.
int64_t chosen_by(const Environment& environment, std::string_view name) {
  for (const auto& [known, value] : environment)
    if (known == name) return value.empty() ? 0 : static_cast<int64_t>(parts(value, ',').size());
  return -1;
}

}  // namespace

std::vector<KfdGpu> kfd_gpus_of(const Snapshot& machine) {
  std::map<std::pair<int64_t, std::string>, std::map<std::string, int64_t, std::less<>>> nodes;  // by number: 9, 10
  std::set<int64_t> numbers;
  for (const std::string& node : machine.list(kNodes)) {
    auto all = properties(machine.read(fmt::format("{}{}/properties", kNodes, node)).value_or(""));
    if (get(all, "simd_count") <= 0 || get(all, "gfx_target_version") <= 0) continue;  // a processor
    numbers.insert(number(node));
    nodes.insert_or_assign(std::pair(number(node), node), std::move(all));
  }
  std::vector<KfdGpu> gpus;
  for (const auto& [key, all] : nodes) {
    const std::string& node = key.second;
    const int64_t simds = std::max<int64_t>(1, get(all, "simd_per_cu"));
    const bool tells_links = !machine.list(fmt::format("{}{}/io_links", kNodes, node)).empty();
    gpus.push_back({architecture(get(all, "gfx_target_version")), static_cast<int>(get(all, "simd_count") / simds),
                    tells_links ? static_cast<int>(linked_with(machine, node, numbers).size()) : -1});
  }
  return gpus;
}

namespace checks {

void memory_partition(const Snapshot& machine, Findings& findings) {
  for (const Gpu& gpu : gpus_of(machine)) {
    const std::string path = gpu.folder + "current_memory_partition";
    const auto partition = machine.read(path);
    if (!partition || *partition == "NPS1" || *partition == "UNKNOWN") continue;
    findings.push_back({"memory_partition", path, *partition, Severity::note,
                        "memory is split: a process on the whole GPU reaches a part of it slowly",
                        "sudo amd-smi set --memory-partition NPS1", "", ""});
  }
}

void power_cap(const Snapshot& machine, Findings& findings) {
  for (const Gpu& gpu : gpus_of(machine))
    for (const std::string& path : machine.matches(gpu.folder + "hwmon/*/power1_cap")) {
      const int64_t cap = number(*machine.read(path)), usual = number(machine.read(path + "_default").value_or(""));
      if (cap < 0 || usual < 0 || cap >= usual) continue;
      findings.push_back({"power_cap", path, fmt::format("{} W of {} W", cap / 1'000'000, usual / 1'000'000),
                          Severity::problem, "the GPU may take less power than it is made for: clocks fall under load",
                          fmt::format("sudo rocm-smi --setpoweroverdrive {}", usual / 1'000'000), "", ""});
    }
}

void page_faults(const Snapshot& machine, Findings& findings) {
  const std::string path = "sys/module/amdgpu/parameters/noretry";
  if (machine.read(path) != "0") return;
  findings.push_back({"page_faults", path, "0", Severity::note,
                      "page faults are retried (XNACK): accesses are slower than where they are not",
                      "add amdgpu.noretry=1 to the kernel's command line, unless memory is managed; reboot", "", ""});
}

// Checks access control on a bridge between GPUs.
void access_control(const Snapshot& machine, Findings& findings) {
  if (gpus_of(machine).size() < 2) return;
  for (const std::string& address : machine.list("sys/bus/pci/devices")) {
    const std::string folder = "sys/bus/pci/devices/" + address + "/";
    if (!machine.read(folder + "class").value_or("").starts_with("0x0604")) continue;
    const std::string control = machine.read(folder + "config").value_or("");
    const size_t digits = control.find("0x");
    if (digits == control.npos || (number(std::string_view(control).substr(digits + 2), 16) & kPeerBits) == 0) continue;
    findings.push_back({"access_control", folder + "config", control, Severity::problem,
                        "the bridge sends accesses between GPUs through the host: collectives are slower, or hang",
                        fmt::format("sudo setpci -s {} ECAP_ACS+0x6.w=0000", address), "", ""});
  }
}

void gpu_group(const Snapshot& machine, Findings& findings) {
  const std::vector<KfdGpu> gpus = kfd_gpus_of(machine);
  const auto all = static_cast<int64_t>(gpus.size());
  if (all < kFullGroup || gpus.front().links != all - 1) return;
  for (const std::string_view name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    const int64_t chosen = chosen_by(machine.environment(), name);
    if (chosen < 2 || chosen >= all) continue;
    findings.push_back({"gpu_group", std::string(name), fmt::format("{} of {} GPUs", chosen, all), Severity::note,
                        "each GPU has a link to every other one, and a smaller group leaves most of them unused: "
                        "collectives are slower than on all",
                        fmt::format("use 1 GPU or all {}", all), "", ""});
  }
}

}  // namespace checks
}  // namespace rung::doctor

// Checks the processor: NUMA, clocks, idle states, pages.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/words.hpp"
#include "doctor/checks.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

constexpr int kMostIds = 1 << 16;
constexpr int kSlowWakeMicroseconds = 50;  // more than several launches of a kernel take

int number(std::string_view text, int otherwise) {
  int n = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// Returns the field of a file with lines "Name:\tvalue".
std::string field(const std::string& text, std::string_view name) {
  for (const std::string_view line : parts(text, '\n'))
    if (line.starts_with(name)) {
      const size_t value = line.find_first_not_of(" \t", name.size());
      return value == line.npos ? "" : std::string(line.substr(value));
    }
  return "";
}

}  // namespace

std::vector<int> ids_of(std::string_view list) {
  std::vector<int> ids;
  for (const std::string_view range : parts(list, ',')) {
    const auto ends = parts(range, '-');
    const int first = number(ends.front(), -1), last = number(ends.back(), -1);
    for (int id = first; id >= 0 && id <= std::min(last, kMostIds); ++id) ids.push_back(id);
  }
  return ids;
}

namespace checks {

void numa_balancing(const Snapshot& machine, Findings& findings) {
  const std::string path = "proc/sys/kernel/numa_balancing";
  const auto value = machine.read(path);
  if (!value || *value == "0") return;
  findings.push_back({"numa_balancing", path, *value, Severity::problem,
                      "the kernel unmaps pages to see who uses them: accesses fault, and latency varies",
                      "sudo sysctl kernel.numa_balancing=0", "", ""});
}

void gpu_affinity(const Snapshot& machine, Findings& findings) {
  const auto status = machine.read("proc/self/status");
  const auto nodes = ids_of(machine.read("sys/devices/system/node/online").value_or(""));
  if (!status || nodes.size() < 2) return;
  const auto allowed = ids_of(field(*status, "Cpus_allowed_list:"));
  for (const Gpu& gpu : gpus_of(machine)) {
    const std::string node = machine.read(gpu.folder + "numa_node").value_or("-1");
    const auto near = ids_of(machine.read("sys/devices/system/node/node" + node + "/cpulist").value_or(""));
    if (near.empty() || allowed.empty() ||
        std::ranges::any_of(near, [&](int cpu) { return std::ranges::binary_search(allowed, cpu); }))
      continue;
    findings.push_back({"gpu_affinity", gpu.folder + "numa_node", node, Severity::problem,
                        fmt::format("the process may run on processors {} alone, and none of them is near the GPU",
                                    field(*status, "Cpus_allowed_list:")),
                        fmt::format("numactl --cpunodebind={0} --membind={0} COMMAND", node), "", ""});
  }
}

void governor(const Snapshot& machine, Findings& findings) {
  std::map<std::string, int> others;
  for (const std::string& path : machine.matches("sys/devices/system/cpu/*/cpufreq/scaling_governor"))
    if (const auto value = machine.read(path); value != "performance") ++others[*value];
  for (const auto& [name, processors] : others)
    findings.push_back({"governor", "sys/devices/system/cpu/*/cpufreq/scaling_governor",
                        fmt::format("{} on {}", name, words::counted(processors, "processor")), Severity::problem,
                        "clocks fall while the host waits, and rise late: launches take longer and vary",
                        "sudo cpupower frequency-set -g performance", "", ""});
}

void idle_states(const Snapshot& machine, Findings& findings) {
  const std::string folder = "sys/devices/system/cpu/cpu0/cpuidle/";
  std::string slow;
  for (const std::string& state : machine.list(folder)) {
    const int latency = number(machine.read(folder + state + "/latency").value_or(""), 0);
    if (latency < kSlowWakeMicroseconds || machine.read(folder + state + "/disable") == "1") continue;
    if (!slow.empty()) slow += ", ";
    slow += fmt::format("{} {} us", machine.read(folder + state + "/name").value_or(state), latency);
  }
  if (slow.empty()) return;
  findings.push_back({"idle_states", folder, slow, Severity::problem,
                      "a processor that sleeps this deeply wakes late when a GPU has finished",
                      fmt::format("sudo cpupower idle-set -D {}", kSlowWakeMicroseconds - 1), "", ""});
}

void huge_pages(const Snapshot& machine, Findings& findings) {
  const std::string path = "sys/kernel/mm/transparent_hugepage/enabled";
  const auto value = machine.read(path);
  if (!value || value->find("[never]") == value->npos) return;
  findings.push_back({"huge_pages", path, *value, Severity::note,
                      "host memory is in pages of 4 KB alone: pinning and large copies take longer",
                      "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled", "", ""});
}

}  // namespace checks
}  // namespace rung::doctor

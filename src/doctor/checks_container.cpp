// Checks the limits of a container: processor time, memory, shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "doctor/checks.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kLeastMemory = 16 * kGiB;  // less than the weights of most models for GPUs
constexpr uint64_t kLeastShared = kGiB;       // NCCL's buffers and workers' queues take hundreds of MB

// Returns the bytes of a number with a suffix k, m or g; 0: no number.
uint64_t bytes_of(std::string_view text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  return n << (unit == "k" ? 10 : unit == "m" ? 20 : unit == "g" ? 30 : 0);
}

// Processor time in a period, both in microseconds, as in version 2 of control groups; "": no limit.
struct CpuLimit {
  std::string path, value, times_path;
};
CpuLimit cpu_limit_of(const Snapshot& machine) {
  CpuLimit limit{"sys/fs/cgroup/cpu.max", "", "sys/fs/cgroup/cpu.stat"};
  if (const auto value = machine.read(limit.path)) {
    if (!value->starts_with("max")) limit.value = *value;
    return limit;
  }
  limit.path = "sys/fs/cgroup/cpu/cpu.cfs_quota_us", limit.times_path = "sys/fs/cgroup/cpu/cpu.stat";
  const auto quota = machine.read(limit.path), period = machine.read("sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota && period && !quota->starts_with('-')) limit.value = *quota + " " + *period;
  return limit;
}

}  // namespace

namespace checks {

void cpu_limit(const Snapshot& machine, Findings& findings) {
  const auto [path, value, times_path] = cpu_limit_of(machine);
  if (value.empty()) return;
  std::string found = value;
  const std::string times = machine.read(times_path).value_or("");
  for (const std::string_view line : parts(times, '\n'))
    if (line.starts_with("nr_throttled ")) found += fmt::format(", throttled {} times", line.substr(13));
  findings.push_back({"cpu_limit", path, found, Severity::problem,
                      "a container that has used its time of a period stands still until the next: up to 100 ms",
                      "start it without --cpus, and with --cpuset-cpus for cores of its own", "", ""});
}

void memory_limit(const Snapshot& machine, Findings& findings) {
  const std::string path = "sys/fs/cgroup/memory.max";
  const auto value = machine.read(path);
  const uint64_t bytes = value ? bytes_of(*value) : 0;
  if (bytes == 0 || bytes >= kLeastMemory) return;
  findings.push_back({"memory_limit", path, fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB),
                      Severity::note, "little host memory: loading weights may swap, and pinned memory may be refused",
                      "start the container with a larger --memory", "", ""});
}

void shared_memory(const Snapshot& machine, Findings& findings) {
  const auto mounts = machine.read("proc/self/mounts");
  if (!mounts) return;
  for (const std::string_view option : parts(*mounts, ' '))
    for (std::string_view setting : parts(option, ',')) {
      if (!setting.starts_with("size=")) continue;
      setting.remove_prefix(5);
      if (const uint64_t bytes = bytes_of(setting); bytes == 0 || bytes >= kLeastShared) continue;
      findings.push_back({"shared_memory", "dev/shm", std::string(setting), Severity::problem,
                          "too little for NCCL's and RCCL's buffers and for workers: they fail or go by sockets",
                          "start the container with --ipc=host or --shm-size=16g", "", ""});
    }
}

}  // namespace checks

}  // namespace rung::doctor

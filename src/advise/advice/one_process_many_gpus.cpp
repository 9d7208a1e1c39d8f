// One process launches to several GPUs: its launches come one after the other.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "advise/advice/detector.hpp"
#include "advise/advice/evidence.hpp"

namespace rung::advise::detectors {
namespace {

constexpr double kLeastOfLaunches = 0.1;  // of a process's: a device with fewer is no worker

constexpr std::string_view kRemedy =
    "One process per GPU, each bound to the processor nearest to it: launches of one process go through one "
    "interpreter, "
    "and AMD's runtime serialises them besides.";

size_t devices_of(const Recording& recording) {
  std::set<int> devices;
  for (const Lane& lane : recording.lanes)
    if (lane.on_device) devices.insert(lane.device);
  return devices.size();
}

struct DeviceWork {
  int64_t count = 0, ns = 0;
};
using ByDevice = std::map<int, DeviceWork>;

// Processes by the links of their calls; a link that two processes use is nobody's.
std::unordered_map<uint32_t, int64_t> process_by_link(const Recording& recording) {
  constexpr int64_t kSeveral = INT64_MIN;
  std::unordered_map<uint32_t, int64_t> processes;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::runtime_call || event.link == 0) continue;
    const int64_t process = recording.lanes[event.lane].process;
    const auto [known, added] = processes.try_emplace(event.link, process);
    if (!added && known->second != process) known->second = kSeveral;
  }
  std::erase_if(processes, [](const auto& row) { return row.second == kSeveral; });
  return processes;
}

// The process with kernels on the most devices, and these devices.
ByDevice devices_of_one_process(const Recording& recording) {
  const std::unordered_map<uint32_t, int64_t> processes = process_by_link(recording);
  std::map<int64_t, ByDevice> by_process;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::kernel || event.link == 0) continue;
    const auto process = processes.find(event.link);
    if (process == processes.end()) continue;
    DeviceWork& work = by_process[process->second][recording.lanes[event.lane].device];
    ++work.count;
    work.ns += event.duration_ns;
  }
  ByDevice most;
  for (auto& [process, devices] : by_process) {
    int64_t all = 0;
    for (const auto& [device, work] : devices) all += work.count;
    std::erase_if(devices, [&](const auto& row) {
      return static_cast<double>(row.second.count) < kLeastOfLaunches * static_cast<double>(all);
    });
    if (devices.size() > most.size()) most = devices;
  }
  return most;
}

int64_t late_launches_ns(const Analysis& analysis) {
  int64_t ns = 0;
  for (const Gap& gap : analysis.accounting.gaps)
    if (gap.cause == GapCause::host_bound) ns += gap.span.length_ns();
  return ns;
}

}  // namespace

std::optional<Advice> one_process_many_gpus(const Analysis& analysis) {
  if (devices_of(analysis.recording) < 2) return std::nullopt;
  const ByDevice devices = devices_of_one_process(analysis.recording);
  if (devices.size() < 2) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, late_launches_ns(analysis));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  std::vector<Evidence> evidence;
  for (const auto& [device, work] : devices)
    evidence.push_back({fmt::format("kernels on device {}", device), work.count, ms_of(work.ns)});
  return Advice{
      .id = "one_process_many_gpus",
      .title = fmt::format("One process launches to {} GPUs; the busiest waits {} per step for launches",
                           devices.size(), in_words(bound_ms)),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from = "the gaps in which the busiest GPU waited for a launch",
      .remedy = kRemedy,
      .changes = {{"PyTorch",
                   "torchrun --nproc-per-node=N with tensor parallelism instead of nn.DataParallel or "
                   "device_map='auto', which runs one GPU after the other"},
                  {"vLLM",
                   "one worker process per GPU is what --distributed-executor-backend mp does; no in-process "
                   "executor for several GPUs"}},
      .traps =
          "Layers spread over GPUs by device_map run in turn: more processes alone do not change that, tensor "
          "parallelism does. Each process holds a context and a copy of the runtime in memory. Bind processes to "
          "their NUMA node, or launches cross the socket.",
      .confirm = "Time of a step without a profiler, slowest rank; gaps by late launches in a new trace of one rank."};
}

}  // namespace rung::advise::detectors

// One process launches to several GPUs: its launches come one after the other.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/late_gaps.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kLeastOfLaunches = 0.1;  // of a process's launches: a device with fewer is no worker

constexpr std::string_view kOneProcessManyGpusRemedy =
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
struct Process {
  int64_t number = 0;
  std::map<int, DeviceWork> devices;
  std::unordered_map<uint32_t, int> device_by_link;  // of the kernels of its calls
};

// Returns processes by the links of their calls; omits a link that two processes use.
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

// Returns the process with kernels on the most devices.
Process process_with_most_devices(const Recording& recording) {
  const std::unordered_map<uint32_t, int64_t> processes = process_by_link(recording);
  std::map<int64_t, Process> by_number;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::kernel || event.link == 0) continue;
    const auto process = processes.find(event.link);
    if (process == processes.end()) continue;
    const int device = recording.lanes[event.lane].device;
    Process& all = by_number[process->second];
    all.number = process->second;
    all.device_by_link[event.link] = device;
    ++all.devices[device].count;
    all.devices[device].ns += event.duration_ns;
  }
  Process most;
  for (auto& [number, process] : by_number) {
    const auto all = static_cast<double>(process.device_by_link.size());
    std::erase_if(process.devices,
                  [&](const auto& row) { return static_cast<double>(row.second.count) < kLeastOfLaunches * all; });
    if (process.devices.size() > most.devices.size()) most = std::move(process);
  }
  return most;
}

// Returns when a thread of the process worked for other devices: from the end of one launch to the end of the next, if
// that is another device's.
std::vector<Span> work_for_others(const Recording& recording, const Process& process, int device) {
  std::unordered_map<uint16_t, int64_t> launched_until;  // by thread
  std::vector<Span> spans;
  for (const Event& call : recording.events) {
    if (call.kind != EventKind::runtime_call || recording.lanes[call.lane].process != process.number) continue;
    const auto launched = process.device_by_link.find(call.link);
    if (launched == process.device_by_link.end()) continue;
    const int64_t since = launched_until.try_emplace(call.lane, call.start_ns).first->second;
    if (launched->second != device && call.end_ns() > since) spans.push_back({since, call.end_ns()});
    launched_until[call.lane] = call.end_ns();
  }
  return union_of(std::move(spans));
}

int64_t waited_for_others_ns(const Analysis& analysis, const Process& process) {
  std::vector<Span> late;
  for (const GapCause cause : {GapCause::host_bound, GapCause::host_work})
    for (const LateGap& gap : late_gaps(analysis, cause)) late.push_back(gap.idle);
  return length_of(intersection_of(union_of(std::move(late)),
                                   work_for_others(analysis.recording, process, analysis.accounting.device)));
}

}  // namespace

std::optional<TraceFinding> one_process_many_gpus(const Analysis& analysis) {
  if (devices_of(analysis.recording) < 2) return std::nullopt;
  const Process process = process_with_most_devices(analysis.recording);
  if (process.devices.size() < 2) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, waited_for_others_ns(analysis, process));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  std::vector<Evidence> evidence;
  for (const auto& [device, work] : process.devices)
    evidence.push_back({fmt::format("kernels on device {}", device), work.count, ms_of(work.ns)});
  return TraceFinding{
      .id = "one_process_many_gpus",
      .title = fmt::format("One process launches to {} GPUs; the busiest waits {} per step while it works for others",
                           process.devices.size(), duration_ms(bound_ms)),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from = "the gaps in which the busiest GPU waited for a launch and the process was at one for another GPU",
      .remedy = kOneProcessManyGpusRemedy,
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

}  // namespace rung::trace::findings

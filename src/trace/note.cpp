// Each function writes one note; an empty text means none.
// SPDX-License-Identifier: Apache-2.0
#include "trace/note.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostNamed = 4;  // outliers
constexpr double kLeastShareBetween = 0.01;

struct HowTo {
  std::string_view format, device_work, graphs;
};

// Instructions to record what is missing, by profiler; the last is for any.
constexpr HowTo kHowTo[] = {
    {"PyTorch profiler", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (CUDA stands for ROCm too)",
     "with ROCm 7.2.2 or later and a wheel that brings no older ROCTracer, or with rocprofv3 --kernel-trace; on NVIDIA "
     "with fewer steps, as full buffers are dropped"},
    {"Nsight Systems", "nsys profile --trace=cuda,nvtx", "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node"},
    {"rocprof", "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace",
     "rocprofv3 --hip-trace --kernel-trace of ROCm 7.2.2 or later"},
    {"", "the GPU's kernels and copies beside the host's calls", "each kernel of a graph"},
};

const HowTo& how_to(const Recording& recording) {
  return *std::ranges::find_if(kHowTo, [&](const HowTo& h) { return recording.format.starts_with(h.format); });
}

Note no_device_work(const Analysis& analysis) {
  if (analysis.accounting.device >= 0) return {};
  std::string text = fmt::format(
      "No work on a GPU is in this trace, so that nothing can be said of its latency. "
      "Record it with {}.",
      how_to(analysis.recording).device_work);
  if (analysis.launches.all > 0)
    text += fmt::format(
        " {} launched work that was not recorded: another profiler may hold the GPU's counters, or "
        "this one may not read them.",
        words::counted(analysis.launches.all, "call", "calls"));
  return {"no_device_work", text, true};
}

Note no_kernels(const Analysis& analysis) {
  const auto is_kernel = [&](const Work& work) { return analysis.event(work).kind == EventKind::kernel; };
  const bool has_work = analysis.accounting.device >= 0 && !analysis.work.empty();
  if (!has_work || std::ranges::any_of(analysis.work, is_kernel)) return {};
  return {"no_kernels",
          fmt::format("The steps of this trace hold copies, and no kernel. Record it with {}.",
                      how_to(analysis.recording).device_work),
          true};
}

Note lost_launches(const Analysis& analysis) {
  const Launches& launches = analysis.launches;
  if (launches.lost == 0 || analysis.accounting.device < 0) return {};
  std::string text = fmt::format("{} of {} in the steps have no work in this trace", words::count(launches.lost),
                                 words::counted(launches.all, "launch", "launches"));
  if (launches.lost_graphs > 0)
    text += fmt::format(" ({} of {} of graphs)", words::count(launches.lost_graphs),
                        words::counted(launches.all_graphs, "launch", "launches"));
  if (!launches.are_lost()) return {"lost_launches", text + ": the profiler lost it."};
  return {"lost_launches",
          text + fmt::format(": the profiler lost it, and the device may have been busy where it looks idle. Findings "
                             "that rest on an idle device are left out. Record again {}.",
                             how_to(analysis.recording).graphs),
          true};
}

Note capture(const Analysis& analysis) {
  const Launches& launches = analysis.launches;
  if (launches.captured == 0) return {};
  return {"capture",
          fmt::format("{} in the steps went into the capture of a graph, and ran nothing. Record replays: begin after "
                      "warm-up and capture.",
                      words::counted(launches.captured, "launch", "launches")),
          2 * launches.captured >= launches.all};
}

Note outliers(const Analysis& analysis) {
  const Steps& steps = analysis.steps;
  if (steps.outliers.empty()) return {};
  const double median = ms_of(median_step(analysis).accounting.time_ns);
  std::vector<std::string> named;
  for (const Steps::Outlier& outlier : steps.outliers) {
    if (named.size() == kMostNamed) break;
    const double ms = ms_of(outlier.span.length_ns());
    named.push_back(fmt::format("step {} took {} ({} × the median)", outlier.number, duration_ms(ms),
                                words::significant(median > 0 ? ms / median : 0)));
  }
  if (named.size() < steps.outliers.size())
    named.push_back(fmt::format("and {} more", steps.outliers.size() - named.size()));
  return {"outliers", fmt::format("Left out of all figures, as their lengths differ from the others': {}.",
                                  fmt::join(named, ", "))};
}

Note empty_steps(const Analysis& analysis) {
  if (analysis.steps.empty == 0) return {};
  return {"empty_steps", fmt::format("Left out: {} in which nothing was launched.",
                                     words::counted(static_cast<int64_t>(analysis.steps.empty), "step", "steps"))};
}

Note between(const Analysis& analysis) {
  const Steps& steps = analysis.steps;
  const size_t all = steps.spans.size() + steps.outliers.size();
  if (all < 2) return {};
  const double ms = ms_of(steps.between_ns) / static_cast<double>(all - 1);
  if (ms < kLeastShareBetween * step_ms(analysis)) return {};
  return {"between", fmt::format("From the end of a step to the begin of the next: {} on average, which are no step's.",
                                 duration_ms(ms))};
}

Note outside(const Analysis& analysis) {
  const Accounting& accounting = analysis.accounting;
  if (accounting.outside == 0) return {};
  return {"outside",
          fmt::format("Left out: {} of the device, {} in all, launched in no step.",
                      words::counted(accounting.outside, "piece of work", "pieces of work"),
                      duration_ms(ms_of(accounting.outside_ns))),
          analysis.work.empty()};
}

}  // namespace

std::vector<Note> notes_on(const Analysis& analysis) {
  std::vector<Note> notes;
  for (const auto& look : {no_device_work, no_kernels, lost_launches, capture, outliers, empty_steps, between, outside})
    if (Note note = look(analysis); !note.text.empty()) notes.push_back(std::move(note));
  std::ranges::stable_sort(notes, [](const Note& a, const Note& b) { return a.is_grave && !b.is_grave; });
  return notes;
}

}  // namespace rung::trace

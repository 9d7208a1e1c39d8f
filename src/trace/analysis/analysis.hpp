// The analysis of a recording: the operations behind device work, the step that repeats, and how the time was spent.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/category.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

inline constexpr uint32_t kNone = UINT32_MAX;

// A piece of device work and its causes. Indices refer to Recording::events.
struct Work {
  uint32_t event = kNone;
  uint32_t call = kNone;  // the runtime call that started it
  uint32_t op = kNone;    // the innermost host operation around that call; none in the replay of a graph
  KernelClass kind;
};

// A half-open span in nanoseconds of the recording's clock.
struct Span {
  int64_t start_ns = 0, end_ns = 0;
  int64_t length_ns() const { return end_ns - start_ns; }
};

// The cause of a device's idle time.
enum class GapCause : uint8_t {
  host_bound,       // the next work was not launched yet: the host was busy elsewhere
  synchronization,  // ... because the host waited for the device: a synchronize, .item(), .cpu()
  copy,             // ... because the host was in a copy that blocks it
  allocation,       // ... because the host was allocating or freeing device memory
  compilation,      // ... because the host compiled, loaded or tuned kernels
  graph_launch,     // ... because the host was launching a graph
  input_loading,    // ... because the host was loading input
  host_work,        // ... because the host did something else for long: kLongestLaunchNs
  device,           // launched and not begun: a pause of the device, or work that the recording does not show
  lost,             // work was launched that is not in the recording: the device may have been busy
  unknown,          // no host events explain it
};
inline constexpr std::array<std::string_view, 11> kGapCauseWords{
    "host-bound launch", "synchronization", "copy",   "allocation",        "compilation", "graph launch",
    "input loading",     "host's work",     "device", "work not recorded", "unknown"};
constexpr std::string_view name_of(GapCause cause) { return kGapCauseWords[static_cast<size_t>(cause)]; }

// The longest time a host needs from one launch to the next: a longer pause is other host work.
inline constexpr int64_t kLongestLaunchNs = 1'000'000;

// A gap ends and another begins where a step begins or ends while the device is idle, and where the work that ends the
// idle time was launched.
struct Gap {
  Span span;
  GapCause cause = GapCause::unknown;
  uint32_t before = kNone, after = kNone;  // indices into Analysis::work; kNone at the ends
  uint32_t call = kNone;                   // the host event that explains it: a late launch, a wait
  bool after_late_launch = false;          // the last part of a gap, from a late launch to the start of its work
};

// A step begins when its first range, launch or call begins on the host, or later, when the device has finished earlier
// launches; it ends when the host has finished it and the device has finished its launches. Time between steps belongs
// to no step.
struct Steps {
  std::vector<Span> spans;  // in order, apart; empty: nothing repeats, the whole recording is one step
  std::vector<Span> host;   // each step's span on the host
  std::string
      found_by;  // "ProfilerStep ranges", "ranges 'NAME'", "graph launches", "repeated kernels", "nothing repeats"

  // Left out of all figures: steps much shorter or longer than the median, by number from 1, and steps without
  // launches.
  struct Outlier {
    size_t number = 0;
    Span span;
  };
  std::vector<Outlier> outliers;
  size_t empty = 0;
  int64_t between_ns = 0;  // from the end of each step to the start of the next, summed
};

// The busiest device's time in steps: busy + gaps.
struct Accounting {
  int device = -1;
  Span wall;               // from the first step to the last; without steps, of all device work and host operations
  int64_t time_ns = 0;     // the steps' lengths; the wall's without steps
  int64_t busy_ns = 0;     // at least one stream is working
  std::vector<Gap> gaps;   // in order
  int64_t host_op_ns = 0;  // the launching thread is in host operations or runtime calls
  std::array<int64_t, 9> by_category_ns{};  // sums of durations, per KernelCategory (streams may overlap)
  int64_t outside = 0, outside_ns = 0;      // pieces of work that begin in no step, and their durations
};

// Launches of kernels and graphs in the steps (without steps, in the whole recording), and those whose work is lost.
struct Launches {
  int64_t all = 0, lost = 0;                // lost: the recording does not have their work
  int64_t all_graphs = 0, lost_graphs = 0;  // of these, launches of graphs
  int64_t captured = 0;                     // captured into a graph: nothing ran
  std::vector<int64_t> lost_ns;             // the start of each lost launch, by time

  // Returns whether enough launches are lost that an idle device may have been busy.
  bool are_lost() const { return lost_graphs > 0 || lost * 100 > all; }
};

struct Derived;  // findings/derived.hpp

struct Analysis {
  explicit Analysis(const Recording& from) : recording(from) {}
  explicit Analysis(Recording&&) = delete;  // the recording must outlive the analysis
  const Recording& recording;
  std::vector<Work> work;  // begins in a step on accounting.device; by start
  Steps steps;
  Accounting accounting;
  Launches launches;
  std::vector<uint32_t> around;              // per event of a host thread: the innermost operation or range around it;
                                             // empty in an analysis of one step: whole() has it
  const Analysis* all = nullptr;             // the analysis of all steps, which outlives this one; null: this is it
  mutable std::shared_ptr<Derived> derived;  // results that findings derive once and share

  const Event& event(const Work& w) const { return recording.events[w.event]; }
  std::string_view name(const Work& w) const { return recording.name_of(event(w)); }
  const Analysis& whole() const { return all ? *all : *this; }
  double step_count() const { return steps.spans.empty() ? 1.0 : static_cast<double>(steps.spans.size()); }
};

// Takes events in order. Never fails: a recording without device work has no work, no steps and a wall of zero.
Analysis analyse(const Recording& recording);
Analysis analyse(Recording&&) = delete;

// Analyses the step of median length; of an even number, the lower middle one. Its figures are those reported for a
// step. `all`: the analysis of all steps, which outlives the result.
Analysis median_step(const Analysis& all);
Analysis median_step(Analysis&&) = delete;

// ---- host events, for findings
// Returns the operations and ranges around an event of a host thread, innermost first. The second overload searches all
// events before it: use it for one event, not for many.
std::vector<uint32_t> enclosing(const Analysis& analysis, uint32_t event);
std::vector<uint32_t> enclosing(const Recording& recording, uint32_t event);

// An operand of a host operation; operands_of() is empty if operands are not recorded or not understood.
struct CallOperand {
  std::string_view type;                // "bf16", "f32", "f16", "i64", ...; else the profiler's word
  std::vector<int64_t> shape, strides;  // empty for scalars; strides empty if not recorded
};
std::vector<CallOperand> operands_of(const Recording& recording, const Event& op);
int64_t elements_of(const CallOperand& operand);
// Returns the shapes of the tensors in an operation's first argument, a list, such as that of aten::cat; empty: it is
// no list, or none is recorded.
std::vector<std::vector<int64_t>> listed_shapes(const Recording& recording, const Event& op);

}  // namespace rung::trace

// A recording taken apart: what ran on the device for which operation, the step that repeats, and where the time went.
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

// A piece of device work with what caused it. Indices are those of Recording::events.
struct Work {
  uint32_t event = kNone;
  uint32_t call = kNone;  // the runtime call that started it
  uint32_t op = kNone;    // the innermost host operation around that call; none in the replay of a graph
  KernelClass kind;
};

// Half open, in nanoseconds of the recording's clock.
struct Span {
  int64_t start_ns = 0, end_ns = 0;
  int64_t length_ns() const { return end_ns - start_ns; }
};

// Why the device stood still.
enum class GapCause : uint8_t {
  host_bound,       // the next piece of work was not launched yet: the host was busy elsewhere
  synchronization,  // ... because the host waited for the device: a synchronize, .item(), .cpu()
  copy,             // ... because the host was in a copy that blocks it
  allocation,       // ... because the host was allocating or freeing device memory
  compilation,      // ... because the host compiled, loaded or tuned kernels
  graph_launch,     // ... because the host was launching a graph
  input_loading,    // ... because the host was loading input
  host_work,        // ... because the host did something else for long: kLongestLaunchNs
  device,           // launched, and not begun: the device's own pause, or work that the recording does not show
  lost,             // work was launched that is not in the recording: the device may have been busy
  unknown,          // no host events tell
};
inline constexpr std::array<std::string_view, 11> kGapCauseWords{
    "host-bound launch", "synchronization", "copy",   "allocation",        "compilation", "graph launch",
    "input loading",     "host's work",     "device", "work not recorded", "unknown"};
constexpr std::string_view name_of(GapCause cause) { return kGapCauseWords[static_cast<size_t>(cause)]; }

// From one launch to the next a host needs so long at most: what takes longer is other work of its own.
inline constexpr int64_t kLongestLaunchNs = 1'000'000;

// Where a step begins or ends while the device stands still, a gap ends and another begins; so does it where what ends
// it was launched.
struct Gap {
  Span span;
  GapCause cause = GapCause::unknown;
  uint32_t before = kNone, after = kNone;  // in Analysis::work; none at the ends
  uint32_t call = kNone;           // the event of a host thread that explains it: a launch that came late, a wait
  bool after_late_launch = false;  // the rest of a gap, from a launch that came late until its work begins
};

// A step begins when its first range, launch or call begins on the host, or later, when the device is done with what
// was launched before; it ends when the host is done with it and the device with what was launched in it.
// Time between steps is no step's.
struct Steps {
  std::vector<Span> spans;  // in order, apart; empty: nothing repeats, the whole recording is one
  std::vector<Span> host;   // of each: when the host was at it
  std::string
      found_by;  // "ProfilerStep ranges", "ranges 'NAME'", "graph launches", "repeated kernels", "nothing repeats"

  // Left out of all figures: steps much shorter or longer than the median, by number from 1, and steps in which nothing
  // was launched.
  struct Outlier {
    size_t number = 0;
    Span span;
  };
  std::vector<Outlier> outliers;
  size_t empty = 0;
  int64_t between_ns = 0;  // from the end of a step to the begin of the next, in all
};

// The busiest device's time in steps: busy + gaps.
struct Accounting {
  int device = -1;
  Span wall;               // from the first step to the last; of all device work and host operations without steps
  int64_t time_ns = 0;     // the steps' lengths; the wall's without steps
  int64_t busy_ns = 0;     // at least one stream at work
  std::vector<Gap> gaps;   // in order
  int64_t host_op_ns = 0;  // the launching thread inside host operations or runtime calls
  std::array<int64_t, 9> by_category_ns{};  // sums of durations, per Category (streams may overlap)
  int64_t outside = 0, outside_ns = 0;      // pieces of work that begin in no step, and their durations
};

// Launches of kernels and graphs in the steps (in the whole recording without any) and what became of them.
struct Launches {
  int64_t all = 0, lost = 0;                // lost: the recording has no work of theirs
  int64_t all_graphs = 0, lost_graphs = 0;  // of these, launches of graphs
  int64_t captured = 0;                     // into a graph: nothing ran
  std::vector<int64_t> lost_ns;             // when each lost one began, by time

  // So much is lost that an idle device may have been busy.
  bool are_lost() const { return lost_graphs > 0 || lost * 100 > all; }
};

struct Derived;  // findings/derived.hpp

struct Analysis {
  explicit Analysis(const Recording& from) : recording(from) {}
  explicit Analysis(Recording&&) = delete;  // what it speaks of must stay
  const Recording& recording;
  std::vector<Work> work;  // what begins in a step on accounting.device, by start
  Steps steps;
  Accounting accounting;
  Launches launches;
  std::vector<uint32_t> around;              // per event of a host thread: the innermost operation or range around it;
                                             // of one step empty: whole() has it
  const Analysis* all = nullptr;             // of all steps, which outlives this one; null: this one is it
  mutable std::shared_ptr<Derived> derived;  // what findings work out of it, once for all of them

  const Event& event(const Work& w) const { return recording.events[w.event]; }
  std::string_view name(const Work& w) const { return recording.name_of(event(w)); }
  const Analysis& whole() const { return all ? *all : *this; }
  double step_count() const { return steps.spans.empty() ? 1.0 : static_cast<double>(steps.spans.size()); }
};

// Wants events in order. Never fails: a recording without device work has no work, no steps and a wall of zero.
Analysis analyse(const Recording& recording);
Analysis analyse(Recording&&) = delete;

// The analysis of the step whose length is the median; of an even number the lower one. A step's figures are this
// one's. `all`: of all steps, and outlives it.
Analysis median_step(const Analysis& all);
Analysis median_step(Analysis&&) = delete;

// ---- the host's side, for findings
// The operations and ranges around an event of a host thread, innermost first. The second looks through all events
// before it: for one event, not for each of many.
std::vector<uint32_t> enclosing(const Analysis& analysis, uint32_t event);
std::vector<uint32_t> enclosing(const Recording& recording, uint32_t event);

// The operands of a host operation; empty: not recorded, or not understood.
struct Operand {
  std::string_view type;                // "bf16", "f32", "f16", "i64", ...; else as the profiler writes it
  std::vector<int64_t> shape, strides;  // empty for scalars; strides empty where not recorded
};
std::vector<Operand> operands_of(const Recording& recording, const Event& op);
int64_t elements_of(const Operand& operand);

}  // namespace rung::trace

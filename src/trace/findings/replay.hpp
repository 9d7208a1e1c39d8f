// Replays the recorded steps with some parts taking no time: computes what their absence can save.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/findings/derived.hpp"

namespace rung::trace {

// The work that takes no time in a replay.
struct Omission {
  std::vector<uint32_t> calls;  // host calls; the host goes on at once
  std::vector<uint32_t> work;   // device work, as indices of Analysis::work
  std::vector<Span> spans;      // host time, whatever happened in it
};

// A piece of work starts when it was launched and the work before it is done; the host waits where it was recorded to
// wait. The profiler slowed the host: `pace` is the share of its recorded time that it takes now. Where nothing shows
// that streams wait for one another, both cases are replayed: waiting and independent.
class Replays {
 public:
  explicit Replays(const Analysis& analysis);

  // Returns how much sooner the device ends without the omitted parts, over all steps. Replays the steps with the host
  // as slow as it can have been without the profiler, and twice and four times as fast: the largest saving counts.
  int64_t most_saved_ns(const Omission& omission) const;
  // Returns how much sooner the device ends without the profiler, at least.
  int64_t profiler_ns() const;

 private:
  double end_ns(const Omission& omission, double pace, const std::vector<bool>& waits) const;

  const Analysis& analysis_;
  const KnownHost& host_;
  const std::vector<bool> all_wait_, some_wait_;
};

// Returns the milliseconds of a step that are saved at most: the mean over all steps analysed, and at most the step.
double most_saved_ms(const Analysis& analysis, const Omission& omission);

}  // namespace rung::trace

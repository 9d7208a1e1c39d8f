// The recorded steps played again with some of it taking no time: what its absence can save.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/findings/derived.hpp"

namespace rung::trace {

// The work that takes no time in a replay.
struct Omission {
  std::vector<uint32_t> calls;  // of the host, which goes on at once
  std::vector<uint32_t> work;   // of the device, indices of Analysis::work
  std::vector<Span> spans;      // of the host, whatever it did
};

// A piece of work starts when it was launched and the work before it is done; the host waits for what it was seen to
// wait for. The profiler slowed the host: `pace` is the part of its recorded time that it takes now. Streams are taken
// both for waiting for one another and for independent where nothing shows that they wait.
class Replays {
 public:
  explicit Replays(const Analysis& analysis);

  // How much sooner the device ends without what is omitted, in all steps. The steps are played with the host as slow
  // as it can have been without the profiler, and twice and four times as fast: the largest saving counts.
  int64_t most_saved_ns(const Omission& omission) const;
  // How much sooner the device ends without the profiler, at least.
  int64_t profiler_ns() const;

 private:
  double end_ns(const Omission& omission, double pace, const std::vector<bool>& waits) const;

  const Analysis& analysis_;
  const KnownHost& host_;
  const std::vector<bool> all_wait_, some_wait_;
};

// Milliseconds of a step that are saved at most: the mean over all that are analysed, and at most the step.
double most_saved_ms(const Analysis& analysis, const Omission& omission);

}  // namespace rung::trace

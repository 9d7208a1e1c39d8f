// The time that a step can lose where device work vanishes or shrinks: on the device, and the host's for launching it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/findings/advice.hpp"

namespace rung::trace {

// The host's time until it had launched a piece of work: from its launch before, in the same step and on the same
// thread, without other calls of the runtime (which wait, allocate, ask) and without the profiler's own time as far as
// it is known. By index in Analysis::work; 0 in a graph.
std::vector<int64_t> host_ns_of_work(const Analysis& analysis);

// The wall of a step is its longest path. Each piece of work lies on it with its time on the device and the pause
// before it, or with the host's time for its launch; the host's counts only as far as the device stood still.
class Saving {
 public:
  explicit Saving(const Analysis& analysis);

  // Pieces `work` become one launch that takes `kept_ns` on the device; the dearest launch of the host remains.
  void replace(std::span<const size_t> work, int64_t kept_ns);
  void remove(size_t work);
  // The device takes so much less, with the same launches.
  void shorten(int64_t ns);

  // The most that a step can lose, and at most the step.
  double bound_ms();
  // The same where the device's clocks fall under a load that lasts, as they do not in a short recording.
  double loaded_bound_ms();
  // Bounds, and `how` they come about with the figures that add up to them.
  void give_bound(Advice& advice, std::string_view how);

 private:
  struct Cost {
    int64_t device_ns = 0, host_ns = 0;
  };
  Cost cost_of(size_t work);
  void lose(Cost cost);
  double load();
  double device_ms() const;
  double host_ms() const;

  const Analysis& analysis_;
  std::vector<int64_t> host_ns_, pause_ns_;  // of each piece of work; filled when first asked for
  int64_t device_ns_ = 0, host_over_device_ns_ = 0;
  std::optional<double> load_;
};

// A card that has just been idle runs at its highest clock; under a load that lasts, power holds it lower. Of the
// traces of tests/data/traces, from an H200, those with narrow products at half of the peak took 1.13 to 1.24 times
// their kernels' time when the same steps were repeated for seconds, and those at a sixth of it or in f32 1.01 to 1.03
// times.
inline constexpr double kLastingLoad = 1.3;
inline constexpr double kHeavyShare = 1.0 / 3;             // of the peak, over the time in which the device works
inline constexpr int64_t kShortRecordingNs = 500'000'000;  // of device time: clocks have not settled

}  // namespace rung::trace

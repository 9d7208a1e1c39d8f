// The time that a step can save if device work disappears or shrinks: device time, and host time for launching it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/findings/trace_finding.hpp"

namespace rung::trace {

// Returns host time until each piece of work was launched: from the launch before, in the same step and on the same
// thread, without other runtime calls (which wait, allocate, query) and without the profiler's own time as far as
// known. By index in Analysis::work; 0 in a graph.
std::vector<int64_t> host_ns_of_work(const Analysis& analysis);

// The wall of a step is its longest path. Each piece of work contributes its device time and the pause before it, or
// the host's time for its launch; host time counts only up to the device's idle time.
class Saving {
 public:
  explicit Saving(const Analysis& analysis);

  // Replaces pieces `work` by one launch that takes `kept_ns` on the device; the host's dearest launch remains.
  void replace(std::span<const size_t> work, int64_t kept_ns);
  void remove(size_t work);
  // Reduces device time by `ns`, with the same launches.
  void shorten(int64_t ns);

  // Returns the most that a step can save, and at most the step.
  double bound_ms();
  // Returns the same where a lasting load lowers the device's clocks, as a short recording does not show.
  double loaded_bound_ms();
  // Sets the bounds, and their derivation: `how` and the figures that add up to them.
  void give_bound(TraceFinding& finding, std::string_view how);

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
  std::vector<int64_t> host_ns_, pause_ns_;  // of each piece of work; filled on first use
  int64_t device_ns_ = 0, host_over_device_ns_ = 0;
  std::optional<double> load_;
};

// A card that has just been idle runs at its highest clock; under a lasting load, power holds it lower. For the traces
// in tests/data/traces, from an H200, repeating the same steps for seconds took 1.13 to 1.24 times the kernels' time if
// narrow products ran at half of the peak, and 1.01 to 1.03 times if at a sixth of it or in f32.
inline constexpr double kLastingLoad = 1.3;
inline constexpr double kHeavyShare = 1.0 / 3;             // of the peak, while the device works
inline constexpr int64_t kShortRecordingNs = 500'000'000;  // of device time: clocks have not settled by then

}  // namespace rung::trace

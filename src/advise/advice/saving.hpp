// What a step can lose where device work vanishes or shrinks: its time on the device, and the host's for launching it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "advise/analysis/analysis.hpp"

namespace rung::advise {

// What the host spent until it had launched a piece of work: from its launch before, in the same step and on the same
// thread, without other calls of the runtime (which wait, allocate, ask). By index in Analysis::work; none of a graph.
std::vector<int64_t> host_ns_of_work(const Analysis& analysis);

// The wall of a step is its longest path. Each piece of work lies on it with its time on the device, or with the host's
// for its launch; the host's counts only as far as the device stood still.
class Saving {
 public:
  explicit Saving(const Analysis& analysis);

  // Pieces `work` become one launch that takes `kept_ns` on the device; the dearest launch of the host remains.
  void replace(std::span<const size_t> work, int64_t kept_ns);
  void remove(size_t work);
  // The device takes so much less, with the same launches.
  void shorten(int64_t ns);

  double device_ms() const;  // of a step, as recorded
  // The most that a step can lose, and at most the step. Device time counts kLastingLoad-fold in a short recording.
  double bound_ms() const;

 private:
  void lose(int64_t device_ns, int64_t host_ns);

  const Analysis& analysis_;
  std::vector<int64_t> host_ns_;
  int64_t device_ns_ = 0, host_over_device_ns_ = 0;
};

// A card that has just been idle runs at its highest clock; under a load that lasts, power holds it lower. On an H200
// 3.92 ms of kernels in a recording of four steps are steps of 4.66 ms when repeated for seconds, 2.12 ms of 2.62 ms.
inline constexpr double kLastingLoad = 1.25;
inline constexpr int64_t kShortRecordingNs = 500'000'000;  // of device time: clocks have not settled

}  // namespace rung::advise

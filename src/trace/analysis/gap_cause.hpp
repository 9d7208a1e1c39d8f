// Explains idle time of the device by the thread that launched the next work: its activity since the last work ended,
// until it had launched; from then on the pause is the device's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "trace/analysis/device_work.hpp"
#include "trace/analysis/host_time.hpp"

namespace rung::trace {

class GapCauses {
 public:
  GapCauses(const Recording& recording, const DeviceWork& device, const Launches& launches);

  // Returns the gap cut at its launch, with cause and call; `before` and `after` index DeviceWork::work and may be
  // kNone. `after_work`: the gap begins where work ends.
  std::vector<Gap> explained(const Gap& gap, bool after_work) const;

 private:
  struct Window {
    Span span;  // from the start of the gap until the work was launched
    uint16_t lane = 0;
    bool after_work = false;
  };
  void explain_by_thread(Gap& gap, const Window& window, uint32_t launch) const;
  bool is_behind_lost_launch(const Gap& gap) const;
  // Returns the longest time without a launch by the window's thread, also counted to the ends of the window.
  int64_t longest_without_launch_ns(const Window& window) const;

  const Recording& recording_;
  const DeviceWork& device_;
  const Launches& launches_;
  std::vector<std::vector<HostTime>> times_;
  std::vector<std::vector<int64_t>> launches_ns_;  // by lane: starts of launches to any device
};

}  // namespace rung::trace

// Why the device stood still: what the thread that launched the next piece of work did since the end of the last one,
// until it had launched it; from then on the pause is the device's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "trace/analysis/device_work.hpp"
#include "trace/analysis/host_time.hpp"

namespace rung::trace {

class GapCauses {
 public:
  GapCauses(const Recording& recording, const DeviceWork& device, const Launches& launches);

  // The gap cut at its launch, with cause and call; `before` and `after` are of DeviceWork::work and may be none.
  // `after_work`: the gap begins where work ends.
  std::vector<Gap> explained(const Gap& gap, bool after_work) const;

 private:
  struct Window {
    Span span;  // since the gap began, until the work was launched
    uint16_t lane = 0;
    bool after_work = false;
  };
  void explain_by_thread(Gap& gap, const Window& window, uint32_t launch) const;
  bool is_behind_lost_launch(const Gap& gap) const;
  // From one launch of the window's thread to its next, or to an end of the window.
  int64_t longest_without_launch_ns(const Window& window) const;

  const Recording& recording_;
  const DeviceWork& device_;
  const Launches& launches_;
  std::vector<std::vector<HostTime>> times_;
  std::vector<std::vector<int64_t>> launches_ns_;  // by lane: when launches began, to whatever device
};

}  // namespace rung::trace

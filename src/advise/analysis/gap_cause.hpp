// Why the device stood still: what the thread that launched the next piece of work did since the end of the last one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "advise/analysis/host_time.hpp"

namespace rung::advise {

class GapCauses {
 public:
  GapCauses(const Recording& recording, const std::vector<Work>& work);

  // `before` and `after` may be null; `after_work`: the gap begins where work ends. Fills in cause and call.
  void explain(Gap& gap, const Work* before, const Work* after, bool after_work) const;

 private:
  struct Window {
    Span span;  // since the gap began, until the work was launched
    uint16_t lane = 0;
    bool after_work = false;
  };
  void explain_by_thread(Gap& gap, const Window& window, uint32_t launch) const;

  const Recording& recording_;
  std::vector<std::vector<HostTime>> times_;
};

}  // namespace rung::advise

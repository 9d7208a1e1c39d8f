// A pattern in a recording that costs latency: its evidence, the remedy, and the most that the remedy can gain.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct Evidence {
  std::string event;  // a name as recorded, or a sequence of them
  int64_t count = 0;  // in the one step examined
  double ms = 0;      // of the device for device work, else of the host
};

// The remedy in one stack.
struct Change {
  std::string_view stack;  // "PyTorch", "vLLM", "any"
  std::string_view what;   // setting or code
};

struct TraceFinding {
  std::string_view id;  // "launch_bound"
  std::string title;    // one line with figures
  std::vector<Evidence> evidence;
  double bound_ms = 0;     // of a step: the most that the remedy can remove
  std::string bound_from;  // the derivation of the bound, in words
  std::string_view remedy;
  std::vector<Change> changes;
  std::string_view traps;      // known failures
  std::string_view confirm;    // what to measure
  double loaded_bound_ms = 0;  // the bound where clocks fall under a lasting load; 0: the same
};

// Looks for each finding in the step of median length; sorts by bound, the largest first. A finding is one file and one
// row of findings.inc.
std::vector<TraceFinding> advise_on(const Analysis& analysis);

}  // namespace rung::trace

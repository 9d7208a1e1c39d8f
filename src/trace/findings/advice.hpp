// A pattern in a recording that costs latency: what shows it, what to do about it, what that can bring at most.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct Evidence {
  std::string event;  // a name as recorded, or a sequence of them
  int64_t count = 0;  // in the steps that were looked at: one
  double ms = 0;      // of the device where it is device work, else of the host
};

// How to change it in one stack.
struct Change {
  std::string_view stack;  // "PyTorch", "vLLM", "any"
  std::string_view what;   // setting or code
};

struct Advice {
  std::string_view id;  // "launch_bound"
  std::string title;    // one line with figures
  std::vector<Evidence> evidence;
  double bound_ms = 0;     // of a step: the most that the remedy can take off
  std::string bound_from;  // how the bound comes about, in words
  std::string_view remedy;
  std::vector<Change> changes;
  std::string_view traps;      // what is known to go wrong
  std::string_view confirm;    // what to measure
  double loaded_bound_ms = 0;  // the bound where clocks fall under a load that lasts; 0: the same
};

// A finding is one file and one row of detectors.inc; nothing found: no advice.
// Asks each for the step whose length is the median; by bound, the largest first.
std::vector<Advice> advise_on(const Analysis& analysis);

}  // namespace rung::trace

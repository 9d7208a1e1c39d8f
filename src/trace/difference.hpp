// Compares two recordings of one program: the kinds of work, gaps and kernels that make up the difference of a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trace/summary.hpp"

namespace rung::trace {

// Figures of the step of median length: times in milliseconds, and counts.

struct DifferenceRow {
  std::string name;
  double before_ms = 0, after_ms = 0;
  double before_count = 0, after_count = 0;
  double change_ms() const { return after_ms - before_ms; }
};

struct Difference {
  DifferenceRow step, busy;                              // counts: kernels
  std::vector<DifferenceRow> categories, gaps, kernels;  // the largest change first
  std::vector<std::string> gone, come;                   // ids of findings
};

Difference difference(const Summary& before, const Summary& after);

nlohmann::json to_json(const Difference& difference);

}  // namespace rung::trace

// The rows of the ladder that every form of the report shows: the baseline first, then one row per receipt.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"

namespace rung::report {

struct LadderRow {
  Receipt receipt;
  bool baseline = false;
  std::string name;     // "gemm", or "gemm (again)" for a second attempt
  std::string verdict;  // "baseline", "always", "kept", "rejected"
};

// Makes the baseline's row from the result's own fields if the receipts do not hold one.
std::vector<LadderRow> ladder_rows(const ClimbResult& result);

// Returns one sentence each on claims (speedup_lines.hpp), floor, verdict, budget and load.
std::vector<std::string> headlines(const ClimbResult& result);

// Returns the floor as a fraction of the time now, 1 = nothing left; NaN where either is unknown.
double floor_reached(double time, double floor);
// Returns the time that the machine allows to save; 0 for a time below its floor.
double time_left(double time, double floor);

// Returns the whole model as one more stage, as measured: it is not the sum of its parts.
StageTime whole_run(const ClimbResult& result);

}  // namespace rung::report

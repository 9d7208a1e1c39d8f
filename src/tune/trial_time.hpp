// The outcome of timing one candidate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "measure/interval.hpp"

namespace rung {

// The least number of runs is waived for a candidate that takes longer than this for them, down to two: a slow one
// needs fewer, and a budget is spent between candidates.
inline constexpr double kSlowSeconds = 0.1;
inline constexpr size_t kLeastSlowRuns = 2;

struct TrialTime {
  double us = 0;           // median of single launches; 0: not timed
  Interval ci95;           // of the median, us
  double disturbance = 0;  // share of time that other programs had its processors; 0 on a GPU, where it is unknown
};

}  // namespace rung

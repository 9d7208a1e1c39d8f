// The outcome of timing one candidate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "measure/interval.hpp"

namespace rung {

struct TrialTime {
  double us = 0;           // median of single launches; 0: not timed
  Interval ci95;           // of the median, us
  double disturbance = 0;  // share of time that other programs had its processors; 0 on a GPU, where it is unknown
};

}  // namespace rung

// How sure a tuning run was of its winner, and whether that is sure enough to rely on later.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/verdict.hpp"
#include "measure/interval.hpp"

namespace rung {

struct TunedProblem;

struct Evidence {
  // Time of the default / time of the fastest other candidate, with the 95 % intervals of both medians in the interval:
  // what the choice between the two rests on. 1 where only one of them ran.
  double ratio = 1;
  Interval ci95{1, 1};
  double disturbance = 0;  // the largest of any candidate, see TrialTime
};

// May a later climb take the entry's winner as true? No, with the reason, if others had more than a tenth of the
// processors' time, the interval is wider than a fifth of its ratio, the winner lost on a whole model, or nothing is
// said of how it was measured (a file of an earlier version). Yes for one without candidates: a person put it there.
Verdict is_sure(const TunedProblem& entry);

// Which of two pieces of evidence is the weaker one, by its width and its disturbance.
bool is_weaker(const Evidence& a, const Evidence& b);

}  // namespace rung

// States how sure a tuning run was of its winner, and decides whether a later climb may rely on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/verdict.hpp"
#include "measure/interval.hpp"

namespace rung {

struct TunedProblem;

struct Margin {
  // Time of the default / time of the fastest other candidate; the interval combines the 95 % intervals of both
  // medians: the choice between the two rests on it. 1 if only one of them ran.
  double ratio = 1;
  Interval ci95{1, 1};
  double disturbance = 0;  // the largest of any candidate, see TrialTime
};

// Decides whether a later climb may rely on the entry's winner. Refuses, with the reason, if other programs had more
// than a tenth of the processors' time, the interval is wider than a fifth of its ratio, the winner lost on a whole
// model, or the entry has no margin (a file of an earlier version). Accepts an entry without candidates that did not
// lose: a person put it there.
Verdict is_sure(const TunedProblem& entry);

// Returns whether `a` is the weaker margin, by its width and its disturbance.
bool is_weaker(const Margin& a, const Margin& b);

}  // namespace rung

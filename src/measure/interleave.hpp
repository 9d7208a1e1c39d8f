// Compares two ways to do the same work by running them in alternation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "measure/statistics.hpp"

namespace rung {

struct InterleaveOptions {
  double half_width = 0.01;  // stop when the interval's ends are this close to the ratio, relative to it
  double budget_s = 2;       // or when this much time is spent, after `least_pairs`
  int least_pairs = 1;
  int min_pairs = 10;  // no interval of fewer pairs is looked at
  int max_pairs = 500;
  int warmup = 1;       // untimed runs after each change from one side to the other: caches and branch predictors
  int runs = 3;         // timed runs in a block; the block's time is their median
  double settle_s = 0;  // untimed pairs before the first one, for that long: a device's clocks rise with its load
  // Noise moves the log ratio of one pair at least this far: the scale of estimate_ratio_anytime(). 0: it is unknown,
  // and a clear answer does not end the comparison.
  double noise = 0;
  double patience_s = 0;  // a clear answer ends the comparison only after this time, in which the interval narrows
  double boundary = 1;    // the ratio that a clear answer is on one side of
  // The result has the interval that may be looked at after every pair, whatever ended the comparison: for callers that
  // ask on which side of `boundary` the ratio is, and not how large it is.
  bool anytime = false;
};

struct InterleaveResult {
  RatioEstimate ratio;       // time of A / time of B
  std::vector<double> a, b;  // block times in seconds, a[i] next to b[i]
  double median_a = 0, median_b = 0;
  double spent_s = 0;
  bool tight = false;  // the interval is as narrow as the options ask
  bool clear = false;  // the boundary is outside the anytime interval, which `ratio` then has unless it is tight
};

// Runs blocks A B, B A, A B, B A, ... so that neither side always comes first. It stops on the interval's width; on
// the interval's place it stops only by the anytime interval, which may be looked at after every pair.
class Interleaver {
 public:
  // Runs the work once and returns the seconds it took, as checked_seconds_of() does.
  using Run = std::function<Result<double>()>;
  explicit Interleaver(InterleaveOptions options = {}) : options_(options) {}
  // Errors: the first error of a run.
  Result<InterleaveResult> compare(const Run& a, const Run& b) const;

 private:
  Status settle(const Run& a, const Run& b) const;
  Result<double> block(const Run& run, bool switched) const;
  bool is_tight(const RatioEstimate& ratio) const;
  bool is_clear(const RatioEstimate& ratio) const;
  RatioEstimate estimate(const InterleaveResult& result) const;
  void look(InterleaveResult& result, double spent_s) const;
  void conclude(InterleaveResult& result) const;
  InterleaveOptions options_;
};

}  // namespace rung

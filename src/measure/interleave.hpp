// Compares two ways to do the same work by running them in alternation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "measure/statistics.hpp"

namespace rung {

struct InterleaveOptions {
  double half_width = 0.01;  // stop when the interval reaches no further than this from the ratio, relative
  double budget_s = 2;       // or when this much time is spent, after one pair at least
  int min_pairs = 10;        // an interval of fewer pairs is not looked at
  int max_pairs = 500;
  int warmup = 1;  // untimed runs after each change from one side to the other: caches and branch predictors
  int runs = 3;    // timed runs in a block; the block's time is their median
  // How far noise takes the log ratio of one pair, at least: the scale of estimate_ratio_anytime(). 0: unknown, and a
  // clear answer ends nothing.
  double noise = 0;
  double patience_s = 0;  // a clear answer ends it after this much time, in which the interval narrows
  double boundary = 1;    // the ratio that a clear answer is on one side of
  // The result has the interval that may be looked at after every pair, whatever ended it: for whoever asks on which
  // side of `boundary` the ratio is, and not how large it is.
  bool anytime = false;
};

struct InterleaveResult {
  RatioEstimate ratio;       // time of A / time of B
  std::vector<double> a, b;  // block times in seconds, a[i] next to b[i]
  double median_a = 0, median_b = 0;
  double spent_s = 0;
  bool tight = false;  // the interval is as narrow as was asked
  bool clear = false;  // or it was ended because the boundary is outside the interval, which then allows for that
};

// Runs blocks A B, B A, A B, B A, ... so that neither side always comes first. It stops on the interval's width, and on
// where the interval lies only by one that is made to be looked at again and again.
class Interleaver {
 public:
  // Runs the work once and returns the seconds it took (checked_seconds_of() of it).
  using Run = std::function<Result<double>()>;
  explicit Interleaver(InterleaveOptions options = {}) : options_(options) {}
  // Errors: the first of a run.
  Result<InterleaveResult> compare(const Run& a, const Run& b) const;

 private:
  Result<double> block(const Run& run, bool switched) const;
  bool is_tight(const RatioEstimate& ratio) const;
  bool is_clear(const RatioEstimate& ratio) const;
  RatioEstimate estimate(const InterleaveResult& result) const;
  void look(InterleaveResult& result, double spent_s) const;
  void conclude(InterleaveResult& result) const;
  InterleaveOptions options_;
};

}  // namespace rung

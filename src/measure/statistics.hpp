// Statistics of timings that need no assumption about their distribution.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "measure/interval.hpp"

namespace rung {

// NaN for no values.
double median(std::vector<double> values);
// Linear between order statistics; percent in [0, 100]; NaN for no values.
double percentile(std::vector<double> values, double percent);

// 95 % confidence interval of the median from order statistics: the count of values below the median is binomial,
// whatever the distribution. With fewer than 6 values no such interval exists, and the range of the values is returned.
Interval median_interval(std::vector<double> values);

struct Summary {
  double median = 0, min = 0, p90 = 0, p99 = 0;
  Interval ci95;  // of the median
  int count = 0;
};
Summary summarize(const std::vector<double>& values);

// How many times longer A takes than B: above 1, B is faster.
struct RatioEstimate {
  double ratio = 1, lo = 0, hi = INFINITY;  // 95 % confidence interval
  int pairs = 0;
};

// From times of A and B taken as neighbours in time, a[i] with b[i]; all positive.
//
// The Hodges-Lehmann estimate of the pairs' log ratios, with the interval that inverts Wilcoxon's signed-rank test. Why
// this one, for a noisy shared machine: pairing removes whatever slows both sides (drift, frequency, a busy neighbour);
// logarithms make the noise multiplicative, as it is; ranks bound what a stolen time slice can do (the estimate stands
// up to 29 % of arbitrarily wrong pairs, the interval to more than a tenth even if all are wrong to one side), where a
// mean or a t interval follows it. It assumes only that the log ratios scatter symmetrically, which taking the two
// sides in alternating order brings about; and its coverage is right for few pairs, where a bootstrap's is too small.
// Fewer than 6 pairs cannot give 95 %: the interval then is everything.
RatioEstimate estimate_ratio(std::span<const double> a, std::span<const double> b);

}  // namespace rung

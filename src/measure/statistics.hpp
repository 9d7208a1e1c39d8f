// Statistics of timings that need no assumption about their distribution.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "measure/interval.hpp"

namespace rung {

// Returns NaN for no values.
double median(std::vector<double> values);
// Interpolates linearly between order statistics; `percent` is in [0, 100]. Returns NaN for no values.
double percentile(std::vector<double> values, double percent);

// Returns the 95 % confidence interval of the median from order statistics: the count of values below the median is
// binomial, whatever the distribution. Fewer values than kLeastForInterval have no such interval: it is their range.
inline constexpr int kLeastForInterval = 6;
Interval median_interval(std::vector<double> values);

struct Summary {
  double median = 0, min = 0, p90 = 0, p99 = 0;
  Interval ci95;  // of the median
  int count = 0;
};
Summary summarize(const std::vector<double>& values);

// The ratio states how many times longer A takes than B: above 1, B is faster.
struct RatioEstimate {
  double ratio = 1, lo = 0, hi = INFINITY;  // 95 % confidence interval
  int pairs = 0;
};

// Estimates the ratio from times of A and B taken as neighbours in time, a[i] with b[i]; all are positive.
//
// The estimate is Hodges and Lehmann's of the pairs' log ratios, with the interval that inverts Wilcoxon's signed-rank
// test. It suits a noisy shared machine: pairing removes whatever slows both sides (drift, frequency, a busy
// neighbour); logarithms make the noise multiplicative, as it is; ranks bound the effect of a stolen time slice (the
// estimate stands up to 29 % of arbitrarily wrong pairs, the interval to more than a tenth even if all are wrong to one
// side), where a mean or a t interval follows it. It assumes only that the log ratios scatter symmetrically, which the
// alternating order of the two sides brings about; and its coverage is right for few pairs, where a bootstrap's is too
// small. Fewer than 6 pairs cannot give 95 %: the interval then is everything.
RatioEstimate estimate_ratio(std::span<const double> a, std::span<const double> b);

// Returns the same estimate with an interval that may be looked at after every pair, to stop when it is clear of 1.
// With 99 % the true ratio is in all the intervals of a growing list of pairs at once. (Stopping as soon as the
// interval of estimate_ratio() clears 1 calls too many ties wins: each look is another chance.) The interval is the
// overlap of two such sequences of intervals, 0.5 % each:
//   - The intervals of the mean log ratio, if the log ratio of one pair is sub-Gaussian of this scale: Robbins' normal
//     mixture ("Statistical methods related to the law of the iterated logarithm", 1970; Howard et al., "Time-uniform,
//     nonparametric, nonasymptotic confidence sequences", 2021). They decide large factors in a pair or two. Noise
//     within +-r is sub-Gaussian of scale r (Hoeffding). Where the pairs themselves scatter by more than `scale`, as on
//     a machine that others use, their standard deviation takes its place.
//   - The intervals of the median log ratio, without any assumption on its size: signs, tested by a uniform mixture of
//     coins (Robbins). They decide any factor in twelve pairs if all agree.
RatioEstimate estimate_ratio_anytime(std::span<const double> a, std::span<const double> b, double scale);

}  // namespace rung

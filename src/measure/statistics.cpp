// Computes order statistics, and Wilcoxon's signed-rank interval of a ratio.
// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rung {
namespace {

constexpr double kTail = 0.025;           // on each side
constexpr double kNormalTail = 1.959964;  // the normal distribution's 97.5 % quantile

double sorted_percentile(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(sorted.size() - 1)));
  size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

// Returns how many of n sorted values can at most be cut from each end so that the rest spans the median with 95 %
// confidence; -1: even all n values do not.
int64_t median_cut(int64_t n) {
  if (n > 1000)
    return static_cast<int64_t>(static_cast<double>(n - 1) / 2 - kNormalTail * std::sqrt(static_cast<double>(n)) / 2);
  double term = std::exp2(-static_cast<double>(n)), below = 0;  // P(Binomial(n, 1/2) = k)
  int64_t k = 0;
  for (; k < n; ++k) {
    below += term;
    if (below > kTail) break;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return k - 1;
}

// Returns the same for the n(n+1)/2 sorted Walsh averages of n pairs, by the signed-rank sum; exact for n up to 80.
int64_t signed_rank_cut(int64_t n) {
  int64_t most = n * (n + 1) / 2;
  if (n > 80) {
    double deviation = std::sqrt(static_cast<double>(most) * static_cast<double>(2 * n + 1) / 12);
    return static_cast<int64_t>(static_cast<double>(most) / 2 - 0.5 - kNormalTail * deviation);
  }
  std::vector<double> probability(static_cast<size_t>(most) + 1);  // of each rank sum, ranks 1..i taken or not
  probability[0] = 1;
  for (int64_t i = 1; i <= n; ++i)
    for (int64_t sum = i * (i + 1) / 2; sum >= 0; --sum) {
      auto at = static_cast<size_t>(sum);
      probability[at] = (probability[at] + (sum >= i ? probability[static_cast<size_t>(sum - i)] : 0)) / 2;
    }
  double below = 0;
  int64_t cut = 0;
  for (; cut <= most; ++cut)
    if ((below += probability[static_cast<size_t>(cut)]) > kTail) break;
  return cut - 1;
}

// Returns the sorted means of all pairs of values; each value is paired with itself, too.
std::vector<double> walsh_averages(const std::vector<double>& values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  std::sort(averages.begin(), averages.end());
  return averages;
}

constexpr double kAnytimeError = 0.005;  // of each of the two sequences of intervals

std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) logs.push_back(std::log(a[i] / b[i]));
  return logs;
}

// Returns the standard deviation around the mean; 0 of fewer than two values.
double deviation(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double hodges_lehmann(const std::vector<double>& logs) { return sorted_percentile(walsh_averages(logs), 50); }

// Returns how far the mean of n pairs may lie from the true mean.
double mixture_radius(double n, double scale) {
  return scale / n * std::sqrt((n + 1) * (std::log(n + 1) - 2 * std::log(kAnytimeError)));
}

// Returns how many of n sorted values can be cut from each end: a value with few values below it is an unlikely median.
// With k of n values below, the mixture's evidence is 2^n / ((n + 1) C(n, k)).
size_t anytime_cut(double n) {
  double log_choose = 0;
  size_t k = 0;
  for (; 2 * k < static_cast<size_t>(n); ++k) {
    if (n * std::log(2.0) - std::log(n + 1) - log_choose < -std::log(kAnytimeError)) break;
    log_choose += std::log((n - static_cast<double>(k)) / (static_cast<double>(k) + 1));
  }
  return k;
}

}  // namespace

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  return sorted_percentile(values, percent);
}
double median(std::vector<double> values) { return percentile(std::move(values), 50); }

Interval median_interval(std::vector<double> values) {
  if (values.empty()) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::sort(values.begin(), values.end());
  auto cut = static_cast<size_t>(std::max<int64_t>(median_cut(static_cast<int64_t>(values.size())), 0));
  return {values[cut], values[values.size() - 1 - cut]};
}

Summary summarize(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  Summary summary;
  summary.median = sorted_percentile(sorted, 50);
  summary.min = sorted_percentile(sorted, 0);
  summary.p90 = sorted_percentile(sorted, 90);
  summary.p99 = sorted_percentile(sorted, 99);
  summary.ci95 = median_interval(values);
  summary.count = static_cast<int>(values.size());
  return summary;
}

RatioEstimate estimate_ratio(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> logs = log_ratios(a, b);
  RatioEstimate estimate;
  estimate.pairs = static_cast<int>(logs.size());
  if (logs.empty()) return estimate;
  auto averages = walsh_averages(logs);
  estimate.ratio = std::exp(sorted_percentile(averages, 50));
  int64_t cut = signed_rank_cut(estimate.pairs);
  if (cut < 0) return estimate;
  estimate.lo = std::exp(averages[static_cast<size_t>(cut)]);
  estimate.hi = std::exp(averages[averages.size() - 1 - static_cast<size_t>(cut)]);
  return estimate;
}

RatioEstimate estimate_ratio_anytime(std::span<const double> a, std::span<const double> b, double scale) {
  std::vector<double> logs = log_ratios(a, b);
  RatioEstimate estimate;
  estimate.pairs = static_cast<int>(logs.size());
  if (logs.empty()) return estimate;
  const auto n = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  const double radius = mixture_radius(n, std::max(scale, deviation(logs, mean)));
  estimate.ratio = std::exp(hodges_lehmann(logs));
  double lo = mean - radius, hi = mean + radius;
  std::sort(logs.begin(), logs.end());
  if (const size_t cut = anytime_cut(n); cut > 0)
    lo = std::max(lo, logs[cut - 1]), hi = std::min(hi, logs[logs.size() - cut]);
  estimate.lo = std::exp(std::min(lo, hi)), estimate.hi = std::exp(std::max(lo, hi));
  return estimate;
}

}  // namespace rung

// Sums up divergences row by row.
// SPDX-License-Identifier: Apache-2.0
#include "measure/divergence.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace rung {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the logarithm of the sum of e^score; NaN or infinite: the row has no distribution.
double log_sum(std::span<const float> scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score) - largest);
  return largest + std::log(sum);
}

double divergence(std::span<const float> got, std::span<const float> want) {
  const double got_sum = log_sum(got), want_sum = log_sum(want);
  if (!std::isfinite(got_sum) || !std::isfinite(want_sum))
    return std::isfinite(got_sum) == std::isfinite(want_sum) ? 0 : kInfinity;
  double sum = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double log_want = static_cast<double>(want[i]) - want_sum, log_got = static_cast<double>(got[i]) - got_sum;
    if (std::isfinite(log_want)) sum += std::exp(log_want) * (log_want - log_got);
  }
  return std::max(sum, 0.0);  // rounding may leave a little less
}

}  // namespace

double mean_divergence(const Tensor& got, const Tensor& want) {
  assert(got.type() == want.type() && want.dtype() == DType::f32 && want.shape().rank() > 0);
  const auto classes = static_cast<size_t>(want.shape()[want.shape().rank() - 1]);
  const auto all = static_cast<size_t>(want.elements());
  if (all == 0) return 0;
  const size_t rows = all / classes;
  double sum = 0;
  for (size_t at = 0; at < all; at += classes)
    sum += divergence(got.as<float>().subspan(at, classes), want.as<float>().subspan(at, classes));
  return sum / static_cast<double>(rows);
}

}  // namespace rung

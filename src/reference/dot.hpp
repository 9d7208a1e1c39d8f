// Dot products of contiguous f64 rows: the one inner loop of every contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace rung::reference {

// Keeps eight partial sums, so that the compiler may use vectors and the sum's order stays fixed.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= a.size(); i += 8)
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < a.size(); ++i) sums[i % 8] += a[i] * b[i];
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace rung::reference

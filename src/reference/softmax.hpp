// Softmax of one row in place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <span>

namespace rung::reference {

// Computes exp(x - max) / sum; a row that is -inf everywhere has no softmax and becomes NaN.
inline void softmax(std::span<double> row) {
  if (row.empty()) return;
  double max = *std::max_element(row.begin(), row.end()), sum = 0;
  for (double& value : row) sum += value = std::exp(value - max);
  for (double& value : row) value /= sum;
}

}  // namespace rung::reference

// Matrix products with their sizes, as host operations tell them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "advise/advice/floor.hpp"
#include "advise/analysis/analysis.hpp"

namespace rung::advise {

// [batch, m, k] by [batch, k, n]; all device work of one operation, such as a kernel and the sum of its split K.
struct Product {
  uint32_t op = kNone;         // event
  size_t first = 0, last = 0;  // in Analysis::work
  size_t main = 0;             // the longest
  int64_t ns = 0;              // of all
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Operand a, b;

  std::string_view type() const { return a.type; }
  double flops() const;
  // Operands read once and the result written once, in elements of `bytes` (0: of the operands' own type).
  Demand demand(int bytes = 0) const;
};

// In order, found once for all who ask. Empty where no operations or no shapes are recorded, as in the replay of a
// graph.
const std::vector<Product>& products_of(const Analysis& analysis);

}  // namespace rung::advise

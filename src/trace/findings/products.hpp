// Matrix products with the device work that computes them, and their demand on a card.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/recorded_product.hpp"
#include "trace/findings/floor.hpp"

namespace rung::trace {

// All device work of one operation, such as a kernel and the sum of its split K.
struct Product : RecordedProduct {
  uint32_t op = kNone;         // event
  size_t first = 0, last = 0;  // in Analysis::work
  size_t main = 0;             // index of the longest
  int64_t ns = 0;              // total

  double flops() const;
  // Operands read once and the result written once, in elements of `bytes` (0: of the operands' own type).
  Demand demand(int bytes = 0) const;
};

// Returns products in order; they are found once for all callers. Empty if operations or shapes are not recorded, as in
// the replay of a graph.
const std::vector<Product>& products_of(const Analysis& analysis);

}  // namespace rung::trace

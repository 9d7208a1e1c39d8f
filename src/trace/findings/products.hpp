// Matrix products with the device work that computes them, and what they ask of a card.
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
  size_t main = 0;             // the longest
  int64_t ns = 0;              // of all

  double flops() const;
  // Operands read once and the result written once, in elements of `bytes` (0: of the operands' own type).
  Demand demand(int bytes = 0) const;
};

// In order, found once for all who ask. Empty where no operations or no shapes are recorded, as in the replay of a
// graph.
const std::vector<Product>& products_of(const Analysis& analysis);

}  // namespace rung::trace

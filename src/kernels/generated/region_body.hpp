// A region as bodies: one for each sweep over a row, and what is computed of the row between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kernels/generated/primitives.hpp"

namespace rung::generated {

// `whole` computes the elements of one vector, `tail` those of the last one, which has fewer.
struct Sweep {
  Body whole, tail;
  int variables = 0;  // that each of the vectors in flight carries
  int copies = 1;     // vectors in flight
};

// Row by row: rows[0], sweeps[0], rows[1] and so on, up to rows.back(). Variables that a sweep carries get their first
// values in the body before it, and are read in the body behind it, where variable v of vector c has the number
// c * variables + v. Addresses are of the operands, the results, then memory for rows of whole vectors, which is read
// as an operand and written as a result.
struct RegionBody {
  int64_t width = 0;            // elements of a row
  std::optional<Body> at_once;  // all of a row that is no longer than a vector: then there are no rows and no sweeps
  std::vector<Body> rows;
  std::vector<Sweep> sweeps;
  std::vector<bool> same;  // by operand: has one value for all elements of a row
  int results = 0;
  int buffers = 0;
  int row_values = 0;  // numbers that row_value and keep_row take
};

}  // namespace rung::generated

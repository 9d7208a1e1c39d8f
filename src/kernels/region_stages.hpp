// Cuts the program of a region into sweeps over a row, with what is computed of the row between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/region.hpp"

namespace rung {

// Sweep s computes the elements of stage s, and what is known of the row behind it has stage s + 1. `rows`:
// row_registers() of the program; both live longer.
class RegionStages {
 public:
  RegionStages(const RegionProgram& program, const std::vector<bool>& rows);

  int of(size_t reg) const { return of_[reg]; }
  int sweeps() const;
  // Returns the sweep in which the instruction reads elements.
  int sweep_of(size_t i) const { return of_[program_.inputs + i] - (is_reduction(i) ? 1 : 0); }
  bool is_reduction(size_t i) const { return std::holds_alternative<RowReduction>(program_.instructions[i]); }
  bool is_row(size_t i) const { return rows_[program_.inputs + i] && !is_reduction(i); }

 private:
  int earliest(size_t i) const;
  void sink(size_t i);

  const RegionProgram& program_;
  const std::vector<bool>& rows_;
  std::vector<int> of_;  // by register
};

}  // namespace rung

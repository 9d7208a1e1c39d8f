// Products of large matrices by Strassen's seven products of their quarters, where eight are usual.
// SPDX-License-Identifier: Apache-2.0
//
// Rows of x and values of k and columns of w have two halves each, which make quarters of x, of w and of the result.
// Every second row is in the lower half, so that threads that share the rows have neighbours.
// Sums of x's quarters are made once for a block of k, sums of w's for each pair of panels, which stays in the panels
// of the plain product: weights take no more memory. Each row of x is scaled by a power of two first, so that a row
// whose values are large does not cost the row that it is added to digits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rung {
struct LinearShape;
struct Machine;
struct Problem;
}  // namespace rung

namespace rung::cpu {
struct Call;
namespace gemm {

struct PackedPlan;

// The cut of one problem.
struct StrassenCut {
  int64_t pairs = 0;        // of rows, of which every second one is in the lower half; one beyond m is zeros
  int64_t panel_pairs = 0;  // panel p goes with panel p + panel_pairs
  int64_t half_k = 0;       // k goes with k + half_k
  int64_t depth = 0;        // values of half_k whose sums are there at a time
  int64_t held = 0;         // pairs of rows whose sums are there at a time
  int64_t held_panels = 0;  // pairs of panels whose results are there at a time
  int64_t x_stride = 0;     // of sums of x, in elements
  int row_parts = 1, column_parts = 1;
  bool is_used() const { return pairs > 0; }
  size_t thread_floats(int64_t width) const;
};

// Returns the cut, which is not used where the problem has other operands than f32, an odd number of panels or values
// of k or a gate. The parameter `strassen` asks for it, whatever the size: it is not the default, because a column
// whose weights are smaller than those of the column that they are added to loses digits, and only a climb judges the
// result.
StrassenCut strassen_cut(const PackedPlan& plan, const Problem& problem, const Machine& machine);
// Returns whether the seven products are faster than eight.
bool is_worth_strassen(const LinearShape& shape);

void run_strassen(const PackedPlan& plan, const Call& call);

}  // namespace gemm
}  // namespace rung::cpu

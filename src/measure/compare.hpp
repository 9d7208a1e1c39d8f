// Says whether a result is right. Everything starts as failed: only a comparison that went all the way through passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/tensor.hpp"

namespace rung {

// A tolerance states how far a right result may be from the reference; the defaults admit only equality.
struct Tolerance {
  double rel_l2 = 0;   // |got - want| / |want| over the whole tensor
  double element = 0;  // the largest |got - want| / max(|want|, root mean square of want): no single element hides
};

// Returns the tolerance for a kernel that rounds its result to `result` and sums `reduction_length` terms in f32.
//
//   rel_l2  = u(result) + (4 + sqrt(k)) u(f32)        u: unit roundoff, 2^-24 f32, 2^-11 f16, 2^-8 bf16
//   element = 2 u(result) + 4 (4 + sqrt(k)) u(f32)
//
// Rounding the result costs at most u(result) of each element. Rounding errors of a sum behave like independent ones,
// so k of them grow as sqrt(k) u (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019);
// sequential summation of zero-mean terms has 0.4 sqrt(k) u in the norm, so the bound is 2.5 x that, and blocked sums
// do better. Four u stand for the functions inside (exp, tanh, division), good to 2 ulp. One element may round the
// other way than the reference, a whole ulp or 2 u(result), and may lie far out: 4 norms are 10 standard deviations.
// Integers and bool must be equal. For a whole graph in f32, k is the sum of the reductions along its longest path.
Tolerance tolerance_for(DType result, int64_t reduction_length);

// The rule for low-precision plans: at most 1.25 x the rel_l2 of the unfused baseline in the same precision, both
// against the f32 reference.
Tolerance low_precision_tolerance(double baseline_rel_l2);

struct Comparison {
  std::string name;
  bool passed = false;
  bool same_count = false, same_shape = false, same_dtype = false;
  size_t non_finite = SIZE_MAX;  // NaNs and infinities in the result; SIZE_MAX: never counted
  double rel_l2 = INFINITY, max_abs = INFINITY, max_ulp = INFINITY, cosine = -1;
  double worst_element = INFINITY;      // measured as Tolerance::element
  std::string reason = "not compared";  // why not passed; empty if passed
};

// Compares count, shape and dtype first, then NaNs and infinities: a NaN belongs where the reference has NaN, an
// infinity where it has the same one, and nowhere else; then the numbers. A reference without a number proves nothing
// and fails. A reference of zeros has no size to be relative to: only zeros pass, whatever the tolerance. A result
// without elements equals a reference of its type, which has none either.
Comparison compare(std::string name, const Tensor& got, const Tensor& want, const Tolerance& tolerance);

struct Verification {
  std::vector<Comparison> outputs;
  bool passed = false;
  std::string reason = "not verified";  // the first output's that failed; empty if passed
};

// Verifies all outputs of a run; `names`, `got` and `want` go together. A run without outputs fails.
// Results in 16 bits are compared as f32 with an f32 reference, which was computed, or is kept in a file, in that type.
Verification verify_outputs(const std::vector<std::string>& names, const std::vector<Tensor>& got,
                            const std::vector<Tensor>& want, const Tolerance& tolerance);

}  // namespace rung

// The operands that rows of attention can read: the values of a head lie one after another, and keys of 8 bits are
// those of processors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/verdict.hpp"
#include "kernels/problem.hpp"

namespace rung::cpu {

// Returns whether q, k or v, [B,S,H,D], has dense heads.
inline bool has_dense_heads(const Operand& x) { return x.shape[3] == 1 || x.strides[3] == 1; }

// Accepts keys of the queries' type and of f8e4m3fn.
inline Verdict supports_keys(const Operand& k) {
  return k.dtype == DType::f8e4m3fnuz ? reject("keys of f8e4m3fnuz, wanted q's type or f8e4m3fn") : accept();
}

}  // namespace rung::cpu

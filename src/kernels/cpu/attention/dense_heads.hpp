// The operands that rows of attention can read: the values of a head lie one after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/problem.hpp"

namespace rung::cpu {

// Returns whether q, k or v, [B,S,H,D], has dense heads.
inline bool has_dense_heads(const Operand& x) { return x.shape[3] == 1 || x.strides[3] == 1; }

}  // namespace rung::cpu

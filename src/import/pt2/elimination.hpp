// Functions that solvers of small systems of equations share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/pt2/call.hpp"

namespace rung::pt2 {

// Returns n of a square matrix a: [..., n, n]. Throws for other shapes, and for matrices too large to become steps.
int64_t rows_of_square(const Call& call, NodeId a);

// The identity, in the type and the shape of a square matrix.
NodeId identity_like(const Call& call, NodeId a);

// A square matrix [..., n, n] and what stands beside it, [..., n, m], with the same axes before.
struct EquationPair {
  NodeId a, b;
};
EquationPair same_batch(const Call& call, NodeId a, NodeId b);

}  // namespace rung::pt2

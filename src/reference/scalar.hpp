// The element-wise functions on one f64 value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung::reference {

double apply(UnaryKind kind, double x);
// max and min give NaN if either operand is one; comparisons and logic give 0 or 1.
double apply(BinaryKind kind, double a, double b);
double apply(Activation activation, double x);

}  // namespace rung::reference

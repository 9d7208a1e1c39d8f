// The element-wise functions on one value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung::reference {

double apply(UnaryKind kind, double x);
// max and min give NaN if either operand is one; comparisons and logic give 0 or 1.
double apply(BinaryKind kind, double x, double y);
// Only for functions that take integers; bool is 0 or 1, and a divisor is not 0.
int64_t apply(UnaryKind kind, int64_t x);
int64_t apply(BinaryKind kind, int64_t x, int64_t y);
double apply(Activation activation, double x);

}  // namespace rung::reference

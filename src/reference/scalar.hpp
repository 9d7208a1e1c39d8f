// Element-wise functions on one value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung::reference {

double apply(UnaryKind kind, double x);
// max and min return NaN if either operand is NaN; comparisons and logic return 0 or 1.
double apply(BinaryKind kind, double x, double y);
// Takes only functions defined for integers; bool is 0 or 1, and a divisor is not 0.
int64_t apply(UnaryKind kind, int64_t x);
int64_t apply(BinaryKind kind, int64_t x, int64_t y);
// Takes only formulas of floats; one of one operand does not read y.
double apply(FormulaKind kind, double x, double y);
double apply(Activation activation, double x);

}  // namespace rung::reference

// Measures how large the values are that linears multiply, on the inputs that a climb is given.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/workbench.hpp"

namespace rung {

inline constexpr const char* kQuantisingPass = "quantise_products";  // makes operands of 8 bits, and reads this

// Returns the largest |x| of each linear with constant weights, over all inputs of the workbench, by the label that the
// linear has where the recipe's pass quantises it. The device itself finds the largest values, in the types in which
// the recipe's plan would have them. Errors: those of building and running a plan.
Result<Calibration> calibrate(Workbench& bench, const Recipe& recipe);

// Returns the entries of linears that the precision gives floats of 8 bits; integers have a scale for each row.
Calibration needed(const Calibration& calibration, const Precision& precision);

}  // namespace rung

// Measures how large the values are that linears multiply, for the fields of a recipe that hold it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "open/open_model.hpp"
#include "plan/recipe.hpp"

namespace rung {

using NamedOutputs = std::vector<std::pair<std::string, Tensor>>;

// The model that a calibration measures, and how plans of further graphs of the same inputs answer to all inputs.
struct CalibrationRuns {
  const Graph* model = nullptr;
  const Target* target = nullptr;
  std::function<Result<std::vector<NamedOutputs>>(const Graph&, const Recipe&)> answers;
};

// Returns how large |x| is of each linear with constant weights, over all inputs, by the label that the linear has
// where the recipe's passes quantise it: the percentile that the recipe's precision asks for, or the largest one. The
// device itself finds the largest values, in the types in which the recipe's plan would have them. Errors: those of
// building and running a plan.
Result<Calibration> measured_sizes(const CalibrationRuns& runs, const Recipe& recipe);
// Multiplies the sizes of what products in i8 read, the largest ones, by the parts of them at which values are to be
// cut off: those of the least squared error of all values, which a few large ones would else make worse for all others.
// Errors: those of building and running a plan.
Status cut_sizes(const CalibrationRuns& runs, const Recipe& recipe, Calibration& sizes);
// Returns the largest |x| of each of their channels, rounded to three digits, as it is before it is smoothed or
// rotated.
Result<ChannelCalibration> measured_channels(const CalibrationRuns& runs, const Recipe& recipe);

// Drops the channels of products that the recipe's passes find no way to smooth. Errors: a pass failed.
Status drop_unsmoothed(const CalibrationRuns& runs, Recipe& recipe);

// Return the entries of linears to which the precision gives 8 bits, and of those that it smooths.
Calibration needed(const Calibration& calibration, const Precision& precision);
ChannelCalibration needed(const ChannelCalibration& channels, const Precision& precision);

// Returns the columns of the largest |x| of each linear, as many as the precision asks for by `outliers`; of columns
// alike the first ones. One column at least stays in 8 bits.
OutlierColumns largest_columns(const ChannelCalibration& channels, const Precision& precision);

// Measures what the recipe's precision asks for by `smooth`, `outliers` and `percentile`, and the recipe does not hold,
// on the inputs on which a directory is verified. Errors: those of measuring.
Result<Recipe> calibrated(Recipe recipe, const Opened& opened);

}  // namespace rung

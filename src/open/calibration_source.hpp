// The weights and inputs that a recipe's calibration was measured on: nobody uses it with others in silence.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.hpp"
#include "plan/recipe.hpp"

namespace rung {

// Hashes a model's weights and inputs: names, shapes and values, as f32. Of the weights it reads the small ones and as
// many large ones, in the graph's order, as have 16 Mi elements together: training changes all of them, and a model of
// gigabytes takes no longer than a small one. Errors: a weight cannot be read.
Result<CalibrationSource> calibration_source(const Graph& model, const std::vector<NamedTensors>& inputs);

// Checks that a recipe's calibration is of this model's weights. Errors (mismatch): it is of others. Writes a line to
// the log where the caller's inputs are not those that it was measured on; `inputs` is empty where he gave none.
Status check_calibration(const Recipe& recipe, const Graph& model, const std::vector<NamedTensors>& inputs);

}  // namespace rung

// MODEL and the flags beside it, as the tasks take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/options.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::cli {

using Inputs = NamedTensors;

// Errors: shapes that cannot be read, an input with two shapes (usage), a file of inputs that cannot.
Result<OpenOptions> model_options(const CommonOptions& options);
// The same for a command that makes several plans: one for each shape that a repeated input is given, in order; an
// input that is given one shape has it in every plan. Errors (usage): inputs that are repeated, and not equally often.
Result<std::vector<OpenOptions>> options_of_each_plan(const CommonOptions& options);
// The arrays of a .npz file, whose headers are read now; none where `file` is empty.
Result<GivenArrays> arrays_in(const std::string& file);
// The recipe in a file; none where that is empty.
Result<std::optional<Recipe>> recipe_in(const std::string& file);

}  // namespace rung::cli

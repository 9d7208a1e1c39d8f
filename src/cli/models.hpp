// MODEL and the flags beside it, as the tasks take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

#include "cli/options.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::cli {

using Inputs = NamedTensors;

// Parses positive dimensions, such as "1,128"; an empty text is a scalar's. Returns none for any other text.
std::optional<Shape> parse_dims(std::string_view text);

// Makes the options for opening a model. Errors: unreadable shapes, an input with two, several sets of
// inputs (usage), an unreadable file.
Result<OpenOptions> model_options(const CommonOptions& options);
// Does the same for a command that judges a model's answers: it may take several sets of inputs.
Result<OpenOptions> judged_model_options(const CommonOptions& options);
// Does the same for a command that makes several plans: one for each shape that a repeated input is given, in order; an
// input given one shape has it in every plan. Errors (usage): inputs repeated, and not equally often.
Result<std::vector<OpenOptions>> options_of_each_plan(const CommonOptions& options);
// Returns the arrays of a .npz file, whose headers are read now; none if `file` is empty.
Result<GivenArrays> arrays_in(const std::string& file);
// Returns the recipe in a file; none if `file` is empty.
Result<std::optional<Recipe>> recipe_in(const std::string& file);

}  // namespace rung::cli

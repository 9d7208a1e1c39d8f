// What MODEL and the flags beside it say, as the tasks take it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/options.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::cli {

using Inputs = NamedTensors;

// Errors: shapes that cannot be read (usage), a file of inputs that cannot.
Result<OpenOptions> model_options(const CommonOptions& options);
// The arrays of a .npz file, whose headers are read now; none where `file` is empty.
Result<GivenArrays> arrays_in(const std::string& file);
// The recipe in a file; none where that is empty.
Result<std::optional<Recipe>> recipe_in(const std::string& file);

}  // namespace rung::cli

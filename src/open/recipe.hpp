// Chooses the recipe for an opened model, and builds or selects the plan that runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"

namespace rung {

// Returns the threads of a plan to be built: `asked_for`, all cores of this process where that is 0, or 0 for a GPU.
int threads_for(const Target& target, int asked_for);

// Returns the recipe that runs without a climb: every rung that is not opt-in, and the rung "precision" for bf16.
Recipe default_recipe(int threads, DType precision = DType::f32);

// Parses a recipe from JSON text. Errors (usage): the text is not JSON, or has something that no recipe has.
Result<Recipe> parse_recipe(std::string_view text);

// Returns the recipe for a directory's subject: the given one, or the default, with kernels in order of preference.
// Errors: the options contradict the recipe (usage), or a choice or an entry of its precision would decide nothing in
// the subject's plan (mismatch).
Result<Recipe> recipe_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options);

// Builds the plan of a recipe, and attaches the model's facts (see attach_model()).
Result<std::shared_ptr<const Plan>> build_subject(const Subject& subject, const Recipe& recipe, const Target& target);
// Builds the plan of the recipe that recipe_of() returns.
Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::optional<Recipe>& recipe,
                                                   const OpenOptions& options);
// Returns the plan of a .rung file, which takes no recipe (usage), or builds a directory's plan by the recipe; without
// a recipe, the log says if no climb has judged its precision.
Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const std::optional<Recipe>& recipe,
                                            const OpenOptions& options);
// Returns all plans of a .rung file if the options leave open which one, else the plan of plan_of().
Result<PlanSet> plans_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options);
// Writes a line to the log if the plan, which no climb has verified, computes in low precision.
void note_if_unjudged(const Plan& plan);

}  // namespace rung

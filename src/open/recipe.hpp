// From what was opened to the plan that runs: which recipe, and its plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"

namespace rung {

// Threads of a plan to be built: those asked for, all cores of this process where that is 0; none for a GPU.
int threads_for(const Target& target, int asked_for);

// The recipe that runs without a climb: every rung that is not opt-in, and the rung "precision" where bf16 is asked
// for.
Recipe default_recipe(int threads, DType precision = DType::f32);

// Parses a recipe from JSON text. Errors (usage): text that is no JSON, or that says something no recipe says.
Result<Recipe> parse_recipe(std::string_view text);

// The recipe for a directory's subject: the one given; without one, the default, with kernels in order of preference.
// Errors: the options contradict the recipe (usage), or a choice or an entry of its precision would decide nothing in
// the subject's plan (mismatch).
Result<Recipe> recipe_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options);

// The plan of a recipe, with what the model says of its inputs.
Result<std::shared_ptr<const Plan>> build_subject(const Subject& subject, const Recipe& recipe, const Target& target);
// That of recipe_of().
Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::optional<Recipe>& recipe,
                                                   const OpenOptions& options);
// The plan of a .rung file, which takes no recipe (usage), or that of a directory by the recipe; the log says where no
// climb can have judged it.
Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const std::optional<Recipe>& recipe,
                                            const OpenOptions& options);
// All plans of a .rung file that the options leave open, else the one of plan_of().
Result<PlanSet> plans_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options);
// One line on the log if the plan, which no climb has verified, computes in low precision.
void note_if_unjudged(const Plan& plan);

}  // namespace rung

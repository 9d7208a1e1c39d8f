// Opens what MODEL names, with the inputs and the flags that a command line gives beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "cli/options.hpp"
#include "open/open_model.hpp"

namespace rung::cli {

using Inputs = NamedTensors;

struct Opened : OpenedModel {
  Inputs given;  // from --inputs, less the frozen ones
};

// Errors: those of rung::open_model(), bad shapes, inputs that do not fit, frozen inputs without a value.
Result<Opened> open_model(const CommonOptions& options);

// Inputs complete enough to time: those given, the model's defaults, random samples for the rest.
Inputs sample_missing(const Subject& subject, const Inputs& given, uint64_t seed);
Inputs sample_missing(const Plan& plan, const Inputs& given, uint64_t seed);

// Of a directory's subject: the recipe in `file`; where that is empty, what runs without a climb: all rungs that are
// not opt-in, kernels in order of preference. Errors: the options contradict the recipe, or a choice of its would
// decide nothing in the subject's plan.
Result<Recipe> recipe_of(const Opened& opened, const std::string& file, const CommonOptions& options);
// The plan of that recipe.
Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::string& file,
                                                   const CommonOptions& options);
// One line on standard error if the plan, which no climb has verified, computes in low precision.
void note_if_unjudged(const Plan& plan);
// The plan of a .rung file, which takes no recipe, or that of a directory by the recipe in `file`; with that note where
// it is empty.
Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const CommonOptions& options,
                                            const std::string& file = "");

}  // namespace rung::cli

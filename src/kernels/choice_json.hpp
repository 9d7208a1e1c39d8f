// Kernel choices as JSON: the one form for recipes, plans, the tuning database, tuning jobs and reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/status.hpp"
#include "kernels/choice.hpp"

namespace rung {

// Writes {"kernel": "linear_tiled", "params": {"tile": 642}}.
nlohmann::json to_json(const KernelChoice& choice);
// Leaves out `params` if there are none: for recipes, which a person edits, and plans, which hold thousands of choices.
nlohmann::json to_short_json(const KernelChoice& choice);
// Reads a choice of either form; other fields of the object are the caller's. Errors name the field, the value got and
// the value wanted.
Result<KernelChoice> choice_from_json(const nlohmann::json& json);

}  // namespace rung

// A plan without its tensors, as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "plan/plan.hpp"

namespace rung {

nlohmann::json plan_to_json(const Plan& plan);
// Leaves tensors (weights' contents, defaults, frozen values) empty. Errors: fields missing or of the wrong type; ops
// that do not parse. Never throws.
Result<Plan> plan_from_json(const nlohmann::json& json);

}  // namespace rung

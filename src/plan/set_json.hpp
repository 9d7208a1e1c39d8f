// A set of plans without its tensors, as JSON: it lists facts of the model and weights once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "plan/plan_set.hpp"

namespace rung {

// Returns the weights of a set in the order of its file: each block of memory once.
std::vector<PlanWeight> weights_of(const PlanSet& set);

nlohmann::json set_to_json(const PlanSet& set);

// Plans whose tensors are empty so far, the weights of the file, and the indices of each plan's weights in order.
struct ListedPlans {
  std::vector<Plan> plans;
  std::vector<PlanWeight> weights;
  std::vector<std::vector<uint32_t>> uses;
};
// Errors: fields missing or of the wrong type, a weight that the file does not have or that no plan uses. Never throws.
Result<ListedPlans> set_from_json(const nlohmann::json& json);

}  // namespace rung

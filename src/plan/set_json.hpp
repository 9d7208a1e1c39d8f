// A set of plans without its tensors, as JSON: facts of the model and weights stand once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "plan/plan_set.hpp"

namespace rung {

// The weights of a set in their order in its file: each block of memory once.
std::vector<PlanWeight> weights_of(const PlanSet& set);

nlohmann::json set_to_json(const PlanSet& set);

// Plans whose tensors are empty so far, the weights of the file, and which of them each plan has, in its order.
struct ListedPlans {
  std::vector<Plan> plans;
  std::vector<PlanWeight> weights;
  std::vector<std::vector<uint32_t>> uses;
};
// Errors: fields missing or of the wrong type, a weight that is none of the file's or that no plan uses; never throws.
Result<ListedPlans> set_from_json(const nlohmann::json& json);

}  // namespace rung

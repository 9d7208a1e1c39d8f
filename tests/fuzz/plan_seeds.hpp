// Sound plans to damage: every problem of the conformance suite on every kernel row that takes it, and small models.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "plan/plan.hpp"

namespace rung::fuzz {

struct Seed {
  nlohmann::json json;  // plan_to_json()
  std::vector<PlanWeight> weights;
  NamedTensors defaults, frozen;
};
const std::vector<Seed>& seeds();

// Memory of exactly that many bytes, 64-byte aligned, that a sanitizer watches the ends of.
std::shared_ptr<std::byte> exact_bytes(size_t bytes);

}  // namespace rung::fuzz

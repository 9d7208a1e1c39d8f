// Writes tuned products as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "stacks/tune.hpp"

namespace rung::tasks {

nlohmann::json to_json(const stacks::TunedProducts& tuned);

}  // namespace rung::tasks

// A recipe's precision as JSON: "f32" or "bf16" of the whole model, or a list with an entry for each part.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/status.hpp"
#include "ir/precision.hpp"

namespace rung {

// Writes a single word if one describes the whole precision.
nlohmann::json to_json(const Precision& precision);
nlohmann::json to_json(const PartPrecision& part);
// Errors name the entry, the value it has and the values allowed.
Result<Precision> precision_from_json(const nlohmann::json& json);

}  // namespace rung

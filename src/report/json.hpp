// A climb's result as JSON and back, so that a report can be drawn again from report.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/status.hpp"
#include "ladder/result.hpp"

namespace rung {

// Writes every field under its own name: intervals as [lo, hi], categories as their words, non-finite numbers as null.
nlohmann::json to_json(const ClimbResult& result);
nlohmann::json to_json(const DeviceLoad& load);
// Adds the field "said": the text of the disturbance, empty on a quiet machine.
nlohmann::json to_json(const Disturbance& disturbance);
nlohmann::json to_json(const Speedup& claim);
// Absent fields keep their defaults, unknown fields are ignored, null numbers become NaN; a field of another type is an
// error that names it: "rungs[2].ms: got string, wanted a number".
Result<ClimbResult> from_json(const nlohmann::json& json);

// Write and read the same JSON as text. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const ClimbResult& result, bool pretty = true);
Result<ClimbResult> result_from_text(const std::string& text);

}  // namespace rung

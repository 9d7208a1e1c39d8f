// Strict JSON reading for files that others wrote: duplicate keys, deep nesting and bad UTF-8 are errors, nothing
// throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// `what` names the text in errors, such as a path. Errors give the byte where parsing stopped.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& what);
Result<nlohmann::json> read_json_file(const std::string& path, size_t limit_bytes = size_t{1} << 28);

// "an object", "a string", "-3": a short form of a value for error messages.
std::string describe(const nlohmann::json& value);

}  // namespace rung

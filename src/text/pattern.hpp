// A pattern as files give it, {"String": " "} or {"Regex": " +"}, and what it finds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/json_config.hpp"
#include "text/span.hpp"

namespace rung::text {

// Returns matches and what stands between them.
using Finder = std::function<Result<Spans>(std::string_view text)>;

// Reads the field "pattern". Errors: another form; an empty string; a pattern that does not compile.
Result<Finder> read_pattern(const Config& part);

// Returns the spans of a text that match a string, which is not empty.
Spans spans_of_string(std::string_view text, std::string_view wanted);

}  // namespace rung::text

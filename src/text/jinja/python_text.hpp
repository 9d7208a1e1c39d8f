// Values as Python prints them, and as its JSON module writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "text/jinja/run.hpp"

namespace rung::jinja {

// Returns what `{{ value }}` prints: a text as it is, other values as they are written. Errors: a value whose text
// would be an address in memory; a text beyond the limits.
Result<std::string> text_of(Run& run, const Value& value);
// Returns a value as it is written in a template: texts stand in quotes.
Result<std::string> written(Run& run, const Value& value);
std::string written(double value);
std::string in_quotes(std::string_view text);

struct JsonStyle {
  bool escapes = false;                    // characters that are not ASCII
  std::optional<std::string> indent = {};  // of each level, on lines of their own
  std::string between_items = ", ", after_keys = ": ";
  bool sorts_keys = false;
};
// Errors: a value that JSON does not have.
Result<std::string> json_of(Run& run, const Value& value, const JsonStyle& style);

}  // namespace rung::jinja

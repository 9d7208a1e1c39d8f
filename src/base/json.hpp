// JSON in and out. Reading is strict, for files that others wrote: duplicate keys, deep nesting and bad UTF-8 are
// errors. Nothing throws but value_or_throw().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.hpp"

namespace rung {

// `what` names the text in errors, such as a path. Errors give the byte where parsing stopped.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& what);
Result<nlohmann::json> read_json_file(const std::string& path);

// Writes JSON on one line, or with `indent` blanks a level. The library's own dump() throws at a string that is not
// UTF-8, such as the name of a file; here each wrong byte becomes U+FFFD.
std::string dump_json(const nlohmann::json& json, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& json, int indent = -1);
// Does the same to plain text.
std::string valid_utf8(std::string_view text);

// Returns a short form of a value for error messages: "an object", "a string", "-3".
std::string describe(const nlohmann::json& value);

// Checks what a file of rung's says its form by: an object whose field 'version' is `wanted`.
Status check_version(const nlohmann::json& file, int wanted);

// Returns why a reader of many fields stopped, in words: of the JSON library's own exceptions what was got and wanted.
std::string reason_of(const std::exception& exception);

// Unwraps a result for readers of many fields, who throw what the JSON library throws; one catch makes a Status of all.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::out_of_range(result.error().message);
  return std::move(*result);
}

}  // namespace rung

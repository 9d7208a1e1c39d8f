// Strict reading of config.json fields: each has a type and a range, so absurd sizes are refused before anything is
// built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung {

// A range that includes both ends.
struct IntRange {
  int64_t min = 0, max = 0;
};

// A config file's object; errors name the file and the field, what was got and what was wanted.
class Config {
 public:
  // Parses a config. Errors: not JSON, duplicate keys, not an object. `what` names it in errors, such as its path.
  static Result<Config> parse(std::string_view text, const std::string& what);
  static Result<Config> read(const std::string& path);

  // Makes a config of a JSON value. Errors: not an object.
  static Result<Config> of(nlohmann::json json, const std::string& what);

  bool contains(const std::string& field) const;  // false also for null
  Result<int64_t> get_int(const std::string& field, IntRange range) const;
  Result<double> get_number(const std::string& field, double min, double max) const;
  Result<bool> get_bool(const std::string& field) const;
  Result<std::string> get_text(const std::string& field) const;
  // Returns one of the words in `allowed`.
  Result<std::string> get_word(const std::string& field, const std::vector<std::string>& allowed) const;
  // Returns exactly `count` integers, each within `range`.
  Result<std::vector<int64_t>> get_ints(const std::string& field, size_t count, IntRange range) const;
  Result<Config> get_object(const std::string& field) const;
  // Returns the objects of an array; `what` of each ends with its place: "pre_tokenizers[1]".
  Result<std::vector<Config>> get_objects(const std::string& field) const;
  // Returns a value of any type but null.
  Result<nlohmann::json> get_value(const std::string& field) const;

  // Read fields that may be left out (or null).
  Result<int64_t> get_int_or(const std::string& field, IntRange range, int64_t otherwise) const;
  Result<double> get_number_or(const std::string& field, double min, double max, double otherwise) const;
  Result<bool> get_bool_or(const std::string& field, bool otherwise) const;
  Result<std::string> get_text_or(const std::string& field, const std::string& otherwise) const;

  const nlohmann::json& json() const { return *json_; }
  const std::string& what() const { return what_; }

 private:
  Config(std::shared_ptr<const nlohmann::json> json, std::string what)
      : json_(std::move(json)), what_(std::move(what)) {}
  const nlohmann::json* find(const std::string& field) const;  // null if missing or null
  tl::unexpected<Error> wrong(const std::string& field, const std::string& wanted) const;

  std::shared_ptr<const nlohmann::json> json_;
  std::string what_;
};

}  // namespace rung

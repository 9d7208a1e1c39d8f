// Reads fields with types, ranges and errors that say which field of which file is wrong.
// SPDX-License-Identifier: Apache-2.0
#include "base/json_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung {
namespace {

bool is_int_in(const nlohmann::json& value, IntRange range) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  return value.is_number_integer() && value.get<int64_t>() >= range.min && value.get<int64_t>() <= range.max;
}

std::string describe_range(IntRange range) { return fmt::format("an integer from {} to {}", range.min, range.max); }

}  // namespace

Result<Config> Config::of(nlohmann::json json, const std::string& what) {
  if (!json.is_object()) return bad_file("'{}': got {}, wanted an object", what, describe(json));
  return Config(std::make_shared<const nlohmann::json>(std::move(json)), what);
}

Result<Config> Config::parse(std::string_view text, const std::string& what) {
  RUNG_TRY(auto json, parse_json(text, what));
  return of(std::move(json), what);
}

Result<Config> Config::read(const std::string& path) {
  RUNG_TRY(auto json, read_json_file(path));
  return of(std::move(json), path);
}

const nlohmann::json* Config::find(const std::string& field) const {
  auto found = json_->find(field);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

tl::unexpected<Error> Config::wrong(const std::string& field, const std::string& wanted) const {
  const auto* value = find(field);
  if (!value) return bad_file("'{}': no field '{}', wanted {}", what_, field, wanted);
  return bad_file("'{}': field '{}': got {}, wanted {}", what_, field, describe(*value), wanted);
}

bool Config::contains(const std::string& field) const { return find(field) != nullptr; }

Result<int64_t> Config::get_int(const std::string& field, IntRange range) const {
  const auto* value = find(field);
  if (!value || !is_int_in(*value, range)) return wrong(field, describe_range(range));
  return value->get<int64_t>();
}

Result<double> Config::get_number(const std::string& field, double min, double max) const {
  const auto* value = find(field);
  if (!value || !value->is_number() || !(value->get<double>() >= min && value->get<double>() <= max))
    return wrong(field, fmt::format("a number from {} to {}", min, max));
  return value->get<double>();
}

Result<bool> Config::get_bool(const std::string& field) const {
  const auto* value = find(field);
  if (!value || !value->is_boolean()) return wrong(field, "true or false");
  return value->get<bool>();
}

Result<std::string> Config::get_text(const std::string& field) const {
  const auto* value = find(field);
  if (!value || !value->is_string()) return wrong(field, "a string");
  return value->get<std::string>();
}

Result<std::string> Config::get_word(const std::string& field, const std::vector<std::string>& allowed) const {
  const auto* value = find(field);
  if (!value || !value->is_string() ||
      std::ranges::find(allowed, value->get_ref<const std::string&>()) == allowed.end())
    return wrong(field, fmt::format("one of '{}'", fmt::join(allowed, "', '")));
  return value->get<std::string>();
}

Result<std::vector<int64_t>> Config::get_ints(const std::string& field, size_t count, IntRange range) const {
  const auto* value = find(field);
  bool fits = value && value->is_array() && value->size() == count &&
              std::all_of(value->begin(), value->end(), [&](const auto& item) { return is_int_in(item, range); });
  if (!fits) return wrong(field, fmt::format("{} integers from {} to {}", count, range.min, range.max));
  return value->get<std::vector<int64_t>>();
}

Result<Config> Config::get_object(const std::string& field) const {
  const auto* value = find(field);
  if (!value || !value->is_object()) return wrong(field, "an object");
  return Config(std::shared_ptr<const nlohmann::json>(json_, value), fmt::format("{}: {}", what_, field));
}

Result<std::vector<Config>> Config::get_objects(const std::string& field) const {
  const auto* list = find(field);
  if (!list || !list->is_array()) return wrong(field, "an array");
  std::vector<Config> objects;
  for (const nlohmann::json& item : *list) {
    const std::string what = fmt::format("{}: {}[{}]", what_, field, objects.size());
    if (!item.is_object()) return bad_file("'{}': got {}, wanted an object", what, describe(item));
    objects.push_back(Config(std::shared_ptr<const nlohmann::json>(json_, &item), what));
  }
  return objects;
}

Result<nlohmann::json> Config::get_value(const std::string& field) const {
  const auto* value = find(field);
  if (!value) return wrong(field, "a value");
  return *value;
}

Result<int64_t> Config::get_int_or(const std::string& field, IntRange range, int64_t otherwise) const {
  return contains(field) ? get_int(field, range) : otherwise;
}
Result<double> Config::get_number_or(const std::string& field, double min, double max, double otherwise) const {
  return contains(field) ? get_number(field, min, max) : otherwise;
}
Result<bool> Config::get_bool_or(const std::string& field, bool otherwise) const {
  return contains(field) ? get_bool(field) : otherwise;
}
Result<std::string> Config::get_text_or(const std::string& field, const std::string& otherwise) const {
  return contains(field) ? get_text(field) : otherwise;
}

}  // namespace rung

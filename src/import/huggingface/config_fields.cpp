// Bounded reading of config.json fields.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/config_fields.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rung::huggingface {
namespace {

// A value for error messages, cut short.
std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace

ConfigFields::ConfigFields(const nlohmann::json& object, std::string where)
    : object_(object), where_(std::move(where)) {}

const nlohmann::json* ConfigFields::find(const std::string& name) const {
  auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

bool ConfigFields::has(const std::string& name) const { return find(name) != nullptr; }

bool ConfigFields::in_bounds(const nlohmann::json& value, Bounds bounds, int64_t& out) const {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  out = value.get<int64_t>();
  return out >= bounds.least && out <= bounds.most;
}

int64_t ConfigFields::integer(const std::string& name, Bounds bounds, std::optional<int64_t> fallback) {
  const auto* value = find(name);
  int64_t out = 0;
  if (value && in_bounds(*value, bounds, out)) return out;
  if (!value && fallback) return *fallback;
  if (value)
    mistake("{} is {}, wanted an integer from {} to {}", name, shown(*value), bounds.least, bounds.most);
  else
    mistake("{} is missing, wanted an integer from {} to {}", name, bounds.least, bounds.most);
  return bounds.least;
}

double ConfigFields::number(const std::string& name, double least, double most, double fallback) {
  const auto* value = find(name);
  if (!value) return fallback;
  if (value->is_number()) {
    auto out = value->get<double>();
    if (std::isfinite(out) && out >= least && out <= most) return out;
  }
  mistake("{} is {}, wanted a number from {} to {}", name, shown(*value), least, most);
  return fallback;
}

bool ConfigFields::flag(const std::string& name, bool fallback) {
  const auto* value = find(name);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  mistake("{} is {}, wanted true or false", name, shown(*value));
  return fallback;
}

std::string ConfigFields::text(const std::string& name, const std::string& fallback) {
  const auto* value = find(name);
  if (!value) return fallback;
  if (value->is_string()) return value->get<std::string>();
  mistake("{} is {}, wanted a string", name, shown(*value));
  return fallback;
}

std::vector<int64_t> ConfigFields::integers(const std::string& name, const std::vector<Bounds>& bounds) {
  std::vector<int64_t> out;
  for (const Bounds& bound : bounds) out.push_back(bound.least);
  const auto* value = find(name);
  if (!value || !value->is_array() || value->size() != bounds.size()) {
    mistake("{} is {}, wanted a list of {} integers", name, value ? shown(*value) : "missing", bounds.size());
    return out;
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto& item = (*value)[i];
    if (in_bounds(item, bounds[i], out[i])) continue;
    mistake("{}[{}] is {}, wanted an integer from {} to {}", name, i, shown(item), bounds[i].least, bounds[i].most);
    out[i] = bounds[i].least;
  }
  return out;
}

std::string ConfigFields::first_present(std::initializer_list<std::string> names) const {
  for (const auto& name : names)
    if (has(name)) return name;
  return *(names.end() - 1);
}

Result<nlohmann::json> parse_config(std::string_view json_text, const std::string& where) {
  auto parsed = nlohmann::json::parse(json_text, nullptr, false);
  if (parsed.is_discarded()) return fail("{}: not valid JSON", where);
  if (!parsed.is_object()) return fail("{}: got {}, wanted a JSON object", where, parsed.type_name());
  return parsed;
}

}  // namespace rung::huggingface

// Reads config fields one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/config_fields.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rung::huggingface {

bool ConfigFields::is_list(const std::string& name) const {
  const auto field = config_.json().find(name);
  return field != config_.json().end() && field->is_array();
}

int64_t ConfigFields::integer(const std::string& name, IntRange range, std::optional<int64_t> fallback) {
  return take(fallback ? config_.get_int_or(name, range, *fallback) : config_.get_int(name, range), range.min);
}

double ConfigFields::number(const std::string& name, double least, double most, double fallback) {
  return take(config_.get_number_or(name, least, most, fallback), fallback);
}

double ConfigFields::cap(const std::string& name, double fallback) {
  const auto field = config_.json().find(name);
  return field != config_.json().end() && field->is_null() ? 0.0 : number(name, 1e-6, 1e6, fallback);
}

bool ConfigFields::flag(const std::string& name, bool fallback) {
  return take(config_.get_bool_or(name, fallback), fallback);
}

std::string ConfigFields::text(const std::string& name, const std::string& fallback) {
  return take(config_.get_text_or(name, fallback), fallback);
}

std::vector<int64_t> ConfigFields::integers(const std::string& name, const std::vector<IntRange>& ranges) {
  std::vector<int64_t> least;
  IntRange widest = ranges.front();
  for (const IntRange& range : ranges) {
    least.push_back(range.min);
    widest = {std::min(widest.min, range.min), std::max(widest.max, range.max)};
  }
  auto values = take(config_.get_ints(name, ranges.size(), widest), least);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (values[i] >= ranges[i].min && values[i] <= ranges[i].max) continue;
    mistake("{}[{}] is {}, wanted an integer from {} to {}", name, i, values[i], ranges[i].min, ranges[i].max);
    return least;
  }
  return values;
}

std::string ConfigFields::first_present(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (has(name)) return name;
  return *(names.end() - 1);
}

DType read_dtype(ConfigFields& fields) {
  auto name = fields.text(fields.first_present({"dtype", "torch_dtype"}), "float32");
  if (name == "float16") return DType::f16;
  return name == "bfloat16" ? DType::bf16 : DType::f32;
}

}  // namespace rung::huggingface

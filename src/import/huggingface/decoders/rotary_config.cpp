// Computes frequencies of rotary positions for every type of scaling that the published library applies to all texts.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/rotary_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

namespace rung::huggingface {
namespace {

constexpr double kMostBase = 1e12, kMostFactor = 1e6;
constexpr IntRange kPositions{1, 1 << 24};

// The fields of the object that describes the positions, and what the config says beside it.
struct RotaryFields {
  const Config& config;
  Config scaling;  // empty object: none
  int64_t columns = 0;
  double base = 0;
  int64_t original = 0;  // the tokens of texts in pretraining
};

// Returns base ^ (2 i / columns) for each pair i, in f32 as the published library computes it.
std::vector<float> wavelengths(const RotaryFields& fields) {
  std::vector<float> out;
  for (int64_t i = 0; i < fields.columns; i += 2)
    out.push_back(
        std::pow(static_cast<float>(fields.base), static_cast<float>(i) / static_cast<float>(fields.columns)));
  return out;
}

std::vector<float> inverse_of(const RotaryFields& fields) {
  std::vector<float> out = wavelengths(fields);
  for (float& x : out) x = 1.0f / x;
  return out;
}

Result<double> factor_of(const RotaryFields& fields) { return fields.scaling.get_number("factor", 1e-6, kMostFactor); }

Result<RotaryFrequencies> read_plain(const RotaryFields& fields) {
  return RotaryFrequencies{.inverse = inverse_of(fields), .inverse_long = {}};
}

Result<RotaryFrequencies> read_linear(const RotaryFields& fields) {
  RUNG_TRY(double factor, factor_of(fields));
  RotaryFrequencies out{.inverse = inverse_of(fields), .inverse_long = {}};
  for (float& x : out.inverse) x /= static_cast<float>(factor);
  return out;
}

// Llama 3.1: frequencies of fewer than `low` turns in an original text are divided by the factor, those of more than
// `high` turns stay, and those between are blended.
Result<RotaryFrequencies> read_llama3(const RotaryFields& fields) {
  RUNG_TRY(double factor, factor_of(fields));
  RUNG_TRY(double low, fields.scaling.get_number("low_freq_factor", 1e-6, kMostFactor));
  RUNG_TRY(double high, fields.scaling.get_number("high_freq_factor", 1e-6, kMostFactor));
  if (!(low < high))
    return fail("'{}': low_freq_factor {} is not below high_freq_factor {}", fields.scaling.what(), low, high);
  RotaryFrequencies out{.inverse = inverse_of(fields), .inverse_long = {}};
  for (float& x : out.inverse) {
    const double turns = static_cast<double>(fields.original) * x / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    x = static_cast<float>((1 - kept) * x / factor + kept * x);
  }
  return out;
}

// 0.1 scale ln(factor) + 1
double yarn_amplitude(double factor, double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1; }

Result<double> read_yarn_amplitude(const Config& scaling, double factor) {
  if (scaling.contains("attention_factor")) return scaling.get_number("attention_factor", 0, kMostFactor);
  RUNG_TRY(double scale, scaling.get_number_or("mscale", 0, kMostFactor, 0));
  RUNG_TRY(double scale_all, scaling.get_number_or("mscale_all_dim", 0, kMostFactor, 0));
  if (scale == 0 || scale_all == 0) return yarn_amplitude(factor, 1);
  return yarn_amplitude(factor, scale) / yarn_amplitude(factor, scale_all);
}

// YaRN: pairs that turn often in an original text keep their frequency, those that turn rarely have it divided by the
// factor, and a ramp over the pairs lies between.
Result<RotaryFrequencies> read_yarn(const RotaryFields& fields) {
  const Config& scaling = fields.scaling;
  RUNG_TRY(double factor, factor_of(fields));
  RUNG_TRY(double fast, scaling.get_number_or("beta_fast", 1e-6, kMostFactor, 32));
  RUNG_TRY(double slow, scaling.get_number_or("beta_slow", 1e-6, kMostFactor, 1));
  RUNG_TRY(bool truncates, scaling.get_bool_or("truncate", true));
  RUNG_TRY(double amplitude, read_yarn_amplitude(scaling, factor));
  const auto pair_of = [&](double turns) {
    return static_cast<double>(fields.columns) *
           std::log(static_cast<double>(fields.original) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(fields.base));
  };
  double first = pair_of(fast), last = pair_of(slow);
  if (truncates) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0), last = std::min(last, static_cast<double>(fields.columns - 1));
  if (first == last) last += 0.001;  // as the published library does, against a division by zero
  RotaryFrequencies out{.inverse = wavelengths(fields), .inverse_long = {}, .amplitude = static_cast<float>(amplitude)};
  for (size_t i = 0; i < out.inverse.size(); ++i) {
    const auto ramp = static_cast<float>(std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0));
    const float wavelength = out.inverse[i];
    out.inverse[i] = ramp / (static_cast<float>(factor) * wavelength) + (1 - ramp) / wavelength;
  }
  return out;
}

// Returns the frequencies, each divided by a factor of its own.
Result<std::vector<float>> divided(const RotaryFields& fields, const char* name) {
  std::vector<float> out = wavelengths(fields);
  const auto list = fields.scaling.json().find(name);
  const bool is_list = list != fields.scaling.json().end() && list->is_array() && list->size() == out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const double factor = is_list && (*list)[i].is_number() ? (*list)[i].get<double>() : 0;
    if (!(factor > 0 && factor <= kMostFactor))
      return fail("'{}': {}: wanted a list of {} numbers above 0, one for each pair of columns", fields.scaling.what(),
                  name, out.size());
    out[i] = 1.0f / (static_cast<float>(factor) * out[i]);
  }
  return out;
}

Result<RotaryFrequencies> read_longrope(const RotaryFields& fields) {
  RotaryFrequencies out{.inverse = {}, .inverse_long = {}, .original = fields.original};
  RUNG_TRY(out.inverse, divided(fields, "short_factor"));
  RUNG_TRY(out.inverse_long, divided(fields, "long_factor"));
  RUNG_TRY(int64_t positions, fields.config.get_int_or("max_position_embeddings", kPositions, fields.original));
  const auto original = static_cast<double>(fields.original);
  RUNG_TRY(double factor,
           fields.scaling.get_number_or("factor", 1e-6, kMostFactor, static_cast<double>(positions) / original));
  const double usual = factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(original));
  RUNG_TRY(double amplitude, fields.scaling.get_number_or("attention_factor", 0, kMostFactor, usual));
  out.amplitude = static_cast<float>(amplitude);
  return out;
}

struct RotaryType {
  const char* name;
  Result<RotaryFrequencies> (*read)(const RotaryFields& fields);
};
constexpr RotaryType kRotaryTypes[] = {{"default", read_plain}, {"linear", read_linear},     {"llama3", read_llama3},
                                       {"yarn", read_yarn},     {"longrope", read_longrope}, {"su", read_longrope}};

// Returns the object that describes the positions of these layers; an empty one if the config has none.
Result<Config> scaling_of(const Config& config, const RotaryRequest& request) {
  const char* field = config.contains("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const bool is_old = std::string_view(field) == "rope_scaling";
  if (!config.contains(field) || (is_old && !request.is_scaled))
    return Config::of(nlohmann::json::object(), config.what());
  RUNG_TRY(Config all, config.get_object(field));
  if (request.layer_type[0] == '\0' || !all.contains(request.layer_type)) return all;
  return all.get_object(request.layer_type);
}

// Returns the field from the object, else from the config.
Result<double> number_in_either(const RotaryFields& fields, const char* inner, const char* outer, double otherwise) {
  constexpr double kLeast = 1e-6;
  if (fields.scaling.contains(inner)) return fields.scaling.get_number(inner, kLeast, kMostBase);
  return fields.config.get_number_or(outer, kLeast, kMostBase, otherwise);
}

Result<int64_t> original_length(const RotaryFields& fields) {
  constexpr const char* kField = "original_max_position_embeddings";
  if (fields.config.contains(kField)) return fields.config.get_int(kField, kPositions);
  if (fields.scaling.contains(kField)) return fields.scaling.get_int(kField, kPositions);
  return fields.config.get_int_or("max_position_embeddings", kPositions, 1);
}

}  // namespace

Result<RotaryFrequencies> read_rotary(const Config& config, const RotaryRequest& request) {
  RUNG_TRY(Config scaling, scaling_of(config, request));
  RotaryFields fields{config, std::move(scaling)};
  RUNG_TRY(double part, number_in_either(fields, "partial_rotary_factor", request.part_field, request.part));
  RUNG_TRY(fields.base, number_in_either(fields, "rope_theta", request.base_field, request.base));
  RUNG_TRY(fields.original, original_length(fields));
  fields.columns = static_cast<int64_t>(part * static_cast<double>(request.head_width));
  if (part > 1 || fields.columns < 2 || fields.columns % 2 != 0 || request.head_width % 2 != 0)
    return fail("'{}': {} of {} columns of a head rotate; rotary positions need pairs", config.what(), fields.columns,
                request.head_width);
  if (!(fields.base > 1)) return fail("'{}': rope_theta is {}, wanted a number above 1", config.what(), fields.base);
  const char* field = fields.scaling.contains("rope_type") ? "rope_type" : "type";
  RUNG_TRY(std::string type, fields.scaling.get_text_or(field, "default"));
  if (type == "yarn" && !request.reads_yarn) type = "longrope";
  std::vector<const char*> known;
  for (const RotaryType& row : kRotaryTypes) {
    if (type == row.name) return row.read(fields);
    known.push_back(row.name);
  }
  return fail("'{}': rope_type '{}' is not supported (supported: {})", config.what(), type.substr(0, 60),
              fmt::join(known, ", "));
}

}  // namespace rung::huggingface

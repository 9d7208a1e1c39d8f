// Names keys of JSON by their units.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/counted_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 2> kOfThisProcessor{"load_ms", "first_run_ms"};
constexpr std::array<std::string_view, 8> kOfTimeAlone{
    "peaks", "gflops", "gbps", "floor_ms", "floor_us", "host_us", "prefill_floor_ms", "decode_floor_ms"};

// Scales numbers, and lists and objects of numbers; a number that is not finite becomes null.
Json scaled(Json json, double factor) {
  if (json.is_number()) {
    const double count = json.get<double>() * factor;
    return std::isfinite(count) ? Json(std::llround(count)) : Json();
  }
  if (json.is_structured())
    for (Json& each : json) each = scaled(std::move(each), factor);
  return json;
}

}  // namespace

std::optional<CountedKey> counted_key(std::string_view key) {
  if (std::ranges::count(kOfThisProcessor, key)) return std::nullopt;
  const std::string_view unit = key.substr(key.size() - std::min<size_t>(key.size(), 2));
  if (unit != "ms" && unit != "us") return std::nullopt;
  const std::string_view figure = key.substr(0, key.size() - 2);
  if (!figure.empty() && !figure.ends_with('_')) return std::nullopt;
  return CountedKey{std::string(figure) + "instructions", unit == "ms" ? kInstructionsPerMs : kInstructionsPerMs / 1e3};
}

void name_counts(Json& json) {
  if (json.is_array())
    for (Json& each : json) name_counts(each);
  if (!json.is_object()) return;
  Json named = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::count(kOfTimeAlone, key)) continue;
    if (const auto counted = counted_key(key)) {
      named[counted->name] = scaled(value, counted->per_unit);
    } else if (key == "ci95" && json.contains("median_ms")) {  // the median's
      named[key] = scaled(value, kInstructionsPerMs);
    } else {
      name_counts(named[key] = value);
    }
  }
  json = std::move(named);
}

}  // namespace rung::gpu

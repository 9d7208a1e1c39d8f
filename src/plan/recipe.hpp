// The recipe: every decision that turns a graph into a plan, as plain data with a JSON form that a person can edit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "base/status.hpp"
#include "ir/precision.hpp"
#include "kernels/choice.hpp"

namespace rung {

// The weights and inputs that a calibration was measured on, as hashes (open/calibration_source.hpp).
struct CalibrationSource {
  std::string weights, inputs;
  friend bool operator==(const CalibrationSource&, const CalibrationSource&) = default;
};

struct Recipe {
  bool as_written = false;                             // the author's graph, without canonical forms
  std::set<std::string, std::less<>> rungs;            // passes of these rungs run
  std::set<std::string, std::less<>> disabled_passes;  // except these, by name
  bool capture = false;                                // replay a bound launch list instead of dispatching op by op
  bool joined = false;                                 // neighbouring steps that one launch can do are one
  bool tuned_kernels = false;                          // `choices` apply; elsewhere rows in order of preference
  Precision precision;                                 // of parts, by their labels, when the rung "precision" is on
  Calibration calibration;                             // for parts whose products read 8 bits
  ChannelCalibration channel_calibration;              // for products of 8 bits that are smoothed
  OutlierColumns outlier_columns;                      // for products of 8 bits beside which columns keep their type
  std::optional<CalibrationSource> calibrated_on;      // of all three; none: a person wrote them
  int threads = 1;                                     // in the team; 0 for a GPU
  std::map<std::string, KernelChoice, std::less<>> choices;  // by problem key (kernels/problem_key.hpp)
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

nlohmann::json to_json(const Recipe& recipe);
// Errors name the field, the value it has and the values allowed; unknown fields are refused.
Result<Recipe> recipe_from_json(const nlohmann::json& json);
Result<Recipe> load_recipe(const std::string& path);
std::string recipe_text(const Recipe& recipe);  // the text of its file
Status save_recipe(const Recipe& recipe, const std::string& path);

}  // namespace rung

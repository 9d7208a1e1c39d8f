// Reads and writes recipes as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "device/cpu/start_team.hpp"
#include "ir/shape.hpp"
#include "kernels/choice_json.hpp"
#include "kernels/problem_key.hpp"
#include "passes/pipeline.hpp"
#include "plan/precision_json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

// The JSON library converts numbers silently, 1.5 to 1; here an integer field must hold an integer in range.
bool has_type(const Json& json, const int*) {
  if (json.is_number_unsigned()) return std::in_range<int>(json.get<uint64_t>());
  return json.is_number_integer() && std::in_range<int>(json.get<int64_t>());
}
template <class T>
bool has_type(const Json&, const T*) {
  return true;
}

template <class T>
Status read(const Json& json, const char* field, T& to) {
  auto it = json.find(field);
  if (it == json.end()) return {};
  try {
    if (has_type(*it, &to)) return to = it->get<T>(), Status{};
  } catch (const Json::exception&) {  // reported as the same error
  }
  return fail("recipe: field '{}': got {}, which is of the wrong type", field, dump_json(*it));
}

// Refuses a rung or pass that does not exist, which would be ignored silently.
Status check_names(const Recipe& recipe) {
  std::set<std::string_view> rungs{"precision"}, passes;
  for (const Pass& pass : pipeline()) rungs.insert(pass.rung), passes.insert(pass.name);
  for (const Pass& pass : canonical_passes()) passes.insert(pass.name);
  for (const auto& rung : recipe.rungs)
    if (!rungs.contains(rung)) return fail("recipe: field 'rungs': no rung '{}' has passes", rung);
  for (const auto& pass : recipe.disabled_passes)
    if (!passes.contains(pass)) return fail("recipe: field 'disabled_passes': there is no pass '{}'", pass);
  return {};
}

// Reads the precision. Only the passes of the rung "precision" act on it.
Status read_precision(const Json& json, Recipe& recipe) {
  const auto given = json.find("precision");
  if (given != json.end()) {
    auto precision = precision_from_json(*given);
    if (!precision) return fail_in(precision.error(), "recipe: field 'precision'");
    recipe.precision = std::move(*precision);
  }
  const DType dtype = narrowest(recipe.precision);
  const bool on = recipe.rungs.contains("precision");
  if ((dtype != DType::f32) == on) return {};
  return fail(
      "recipe: field 'precision': got {} {} the rung 'precision' in 'rungs'; wanted bf16 or a type of 8 bits with it, "
      "f32 without",
      given == json.end() ? "nothing" : name_of(dtype), on ? "with" : "without");
}

// Reads the size of some |x|.
Result<float> read_size(const Json& json) {
  const double value = json.is_number() ? json.get<double>() : -1;
  if (value >= 0 && value <= static_cast<double>(std::numeric_limits<float>::max())) return static_cast<float>(value);
  return fail("got {}, wanted the largest |x|, a number of f32 from 0 on", dump_json(json));
}

Result<float> read_calibrated(const Json& json, const float*) { return read_size(json); }
Result<std::vector<float>> read_calibrated(const Json& json, const std::vector<float>*) {
  if (!json.is_array()) return fail("got {}, wanted a list of the largest |x| of each channel", describe(json));
  std::vector<float> channels;
  for (const Json& one : json) {
    auto size = read_size(one);
    if (!size) return fail_in(size.error(), "channel {}", channels.size());
    channels.push_back(*size);
  }
  return channels;
}

Result<Columns> read_calibrated(const Json& json, const Columns*) {
  const auto refuse = [&json] {
    return fail("got {}, wanted a list of columns, ascending from 0 on, each once", dump_json(json));
  };
  if (!json.is_array() || json.empty()) return refuse();
  Columns columns;
  for (const Json& one : json) {
    const int64_t column = one.is_number_integer() ? one.get<int64_t>() : -1;
    if (column < 0 || (!columns.empty() && column <= columns.back())) return refuse();
    columns.push_back(column);
  }
  return columns;
}

// Reads what was measured of linears, by their labels.
template <class Measured>
Status read_calibration(const Json& json, const char* field, std::map<std::string, Measured, std::less<>>& to) {
  const auto given = json.find(field);
  if (given == json.end()) return {};
  if (!given->is_object()) return fail("recipe: field '{}': got {}, wanted an object", field, describe(*given));
  for (const auto& [label, measured] : given->items()) {
    auto value = read_calibrated(measured, static_cast<const Measured*>(nullptr));
    if (!value) return fail_in(value.error(), "recipe: field '{}': '{}'", field, label);
    to[label] = std::move(*value);
  }
  return {};
}

// Returns the channels in as few digits as give the same numbers of f32 again.
Json short_numbers(const ChannelCalibration& channels) {
  Json json = Json::object();
  for (const auto& [label, sizes] : channels) {
    Json& list = json[label] = Json::array();
    for (const float size : sizes) list.push_back(Json::parse(fmt::format("{}", size)));
  }
  return json;
}

Status read_calibrated_on(const Json& json, Recipe& recipe) {
  const auto given = json.find("calibrated_on");
  if (given == json.end()) return {};
  const auto is_text = [&](const char* field) { return given->contains(field) && (*given)[field].is_string(); };
  if (!given->is_object() || given->size() != 2 || !is_text("weights") || !is_text("inputs"))
    return fail("recipe: field 'calibrated_on': got {}, wanted an object with the texts 'weights' and 'inputs'",
                dump_json(*given));
  recipe.calibrated_on = {(*given)["weights"].get<std::string>(), (*given)["inputs"].get<std::string>()};
  return {};
}

Status check_fields(const Json& json, const std::set<std::string>& known) {
  for (const auto& [field, value] : json.items())
    if (!known.contains(field)) return fail("unknown field '{}'", field);
  return {};
}

Result<KernelChoice> read_choice(const Json& json) {
  RUNG_TRY(KernelChoice choice, choice_from_json(json));
  RUNG_CHECK(check_fields(json, {"kernel", "params"}));
  return choice;
}

Status read_choices(const Json& json, Recipe& recipe) {
  const auto choices = json.find("choices");
  if (choices == json.end()) return {};
  if (!choices->is_object()) return fail("recipe: field 'choices': got {}, wanted an object", describe(*choices));
  for (const auto& [problem, entry] : choices->items()) {
    auto choice = read_choice(entry);
    if (!choice) return fail_in(choice.error(), "recipe: choice '{}'", problem);
    recipe.choices[without_factors(problem)] = std::move(*choice);
  }
  return {};
}

}  // namespace

Json to_json(const Recipe& recipe) {
  Json choices = Json::object();
  for (const auto& [problem, choice] : recipe.choices) choices[problem] = to_short_json(choice);
  Json json{{"version", kVersion},
            {"as_written", recipe.as_written},
            {"rungs", std::set<std::string>(recipe.rungs.begin(), recipe.rungs.end())},
            {"disabled_passes", std::set<std::string>(recipe.disabled_passes.begin(), recipe.disabled_passes.end())},
            {"capture", recipe.capture},
            {"tuned_kernels", recipe.tuned_kernels},
            {"precision", to_json(recipe.precision)},
            {"threads", recipe.threads},
            {"choices", std::move(choices)}};
  if (recipe.joined) json["joined"] = true;
  if (!recipe.calibration.empty()) json["calibration"] = recipe.calibration;
  if (!recipe.channel_calibration.empty()) json["channel_calibration"] = short_numbers(recipe.channel_calibration);
  if (!recipe.outlier_columns.empty()) json["outlier_columns"] = recipe.outlier_columns;
  if (recipe.calibrated_on)
    json["calibrated_on"] = {{"weights", recipe.calibrated_on->weights}, {"inputs", recipe.calibrated_on->inputs}};
  return json;
}

Result<Recipe> recipe_from_json(const Json& json) {
  if (const Status checked = check_version(json, kVersion); !checked) return fail_in(checked.error(), "recipe");
  const auto known = check_fields(
      json, {"version", "as_written", "rungs", "disabled_passes", "capture", "joined", "tuned_kernels", "precision",
             "calibration", "channel_calibration", "outlier_columns", "calibrated_on", "threads", "choices"});
  if (!known) return fail_in(known.error(), "recipe");
  Recipe recipe;
  std::set<std::string> rungs, disabled;
  RUNG_CHECK(read(json, "as_written", recipe.as_written));
  RUNG_CHECK(read(json, "rungs", rungs));
  RUNG_CHECK(read(json, "disabled_passes", disabled));
  RUNG_CHECK(read(json, "capture", recipe.capture));
  RUNG_CHECK(read(json, "joined", recipe.joined));
  RUNG_CHECK(read(json, "tuned_kernels", recipe.tuned_kernels));
  RUNG_CHECK(read(json, "threads", recipe.threads));
  recipe.rungs.insert(rungs.begin(), rungs.end());
  recipe.disabled_passes.insert(disabled.begin(), disabled.end());
  RUNG_CHECK(check_names(recipe));
  RUNG_CHECK(read_precision(json, recipe));
  RUNG_CHECK(read_calibration(json, "calibration", recipe.calibration));
  RUNG_CHECK(read_calibration(json, "channel_calibration", recipe.channel_calibration));
  RUNG_CHECK(read_calibration(json, "outlier_columns", recipe.outlier_columns));
  RUNG_CHECK(read_calibrated_on(json, recipe));
  if (recipe.threads < 0 || recipe.threads > cpu::kMostThreads)
    return fail("recipe: field 'threads': got {}, wanted 1 to {}, or 0 for a GPU", recipe.threads, cpu::kMostThreads);
  RUNG_CHECK(read_choices(json, recipe));
  return recipe;
}

Result<Recipe> load_recipe(const std::string& path) {
  RUNG_TRY(Json json, read_json_file(path));
  auto recipe = errors_of(ErrorKind::file, recipe_from_json(json));
  if (!recipe) return fail_in(recipe.error(), "'{}'", path);
  return recipe;
}

std::string recipe_text(const Recipe& recipe) { return dump_json(to_json(recipe), 1) + "\n"; }

Status save_recipe(const Recipe& recipe, const std::string& path) {
  return write_file_atomically(path, recipe_text(recipe));
}

}  // namespace rung

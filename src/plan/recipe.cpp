// Recipes as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

template <class T>
Status read(const Json& json, const char* field, T& to) {
  auto it = json.find(field);
  if (it == json.end()) return {};
  try {
    to = it->get<T>();
  } catch (const Json::exception&) {
    return fail("recipe: field '{}': got {}, which is of the wrong type", field, it->dump());
  }
  return {};
}

Result<KernelChoice> choice_from_json(const std::string& problem, const Json& json) {
  KernelChoice choice;
  if (!json.is_object() || !json.contains("kernel"))
    return fail("recipe: choice '{}': wanted an object with 'kernel'", problem);
  RUNG_CHECK(read(json, "kernel", choice.kernel));
  std::map<std::string, int64_t> params;
  RUNG_CHECK(read(json, "params", params));
  choice.params.insert(params.begin(), params.end());
  return choice;
}

Status check_fields(const Json& json) {
  static const std::set<std::string> known{"version",       "rungs",     "disabled_passes", "capture",
                                           "tuned_kernels", "precision", "threads",         "choices"};
  for (const auto& [field, value] : json.items())
    if (!known.contains(field)) return fail("recipe: unknown field '{}'", field);
  return {};
}

}  // namespace

Json to_json(const Recipe& recipe) {
  Json choices = Json::object();
  for (const auto& [problem, choice] : recipe.choices) {
    Json entry{{"kernel", choice.kernel}};
    for (const auto& [name, value] : choice.params) entry["params"][name] = value;
    choices[problem] = std::move(entry);
  }
  return Json{{"version", kVersion},
              {"rungs", std::set<std::string>(recipe.rungs.begin(), recipe.rungs.end())},
              {"disabled_passes", std::set<std::string>(recipe.disabled_passes.begin(), recipe.disabled_passes.end())},
              {"capture", recipe.capture},
              {"tuned_kernels", recipe.tuned_kernels},
              {"precision", name_of(recipe.precision)},
              {"threads", recipe.threads},
              {"choices", std::move(choices)}};
}

Result<Recipe> recipe_from_json(const Json& json) {
  if (!json.is_object()) return fail("recipe: wanted a JSON object");
  RUNG_CHECK(check_fields(json));
  int version = 0;
  RUNG_CHECK(read(json, "version", version));
  if (version != kVersion) return fail("recipe: got version {}, wanted {}", version, kVersion);
  Recipe recipe;
  std::set<std::string> rungs, disabled;
  std::string precision = "f32";
  RUNG_CHECK(read(json, "rungs", rungs));
  RUNG_CHECK(read(json, "disabled_passes", disabled));
  RUNG_CHECK(read(json, "capture", recipe.capture));
  RUNG_CHECK(read(json, "tuned_kernels", recipe.tuned_kernels));
  RUNG_CHECK(read(json, "precision", precision));
  RUNG_CHECK(read(json, "threads", recipe.threads));
  recipe.rungs.insert(rungs.begin(), rungs.end());
  recipe.disabled_passes.insert(disabled.begin(), disabled.end());
  auto dtype = dtype_named(precision);
  if (!dtype || !is_float(*dtype)) return fail("recipe: field 'precision': got '{}', wanted f32 or bf16", precision);
  recipe.precision = *dtype;
  if (recipe.threads < 1 || recipe.threads > 1024)
    return fail("recipe: field 'threads': got {}, wanted 1 to 1024", recipe.threads);
  const Json choices = json.value("choices", Json::object());
  for (const auto& [problem, entry] : choices.items()) {
    RUNG_TRY(recipe.choices[problem], choice_from_json(problem, entry));
  }
  return recipe;
}

Result<Recipe> load_recipe(const std::string& path) {
  RUNG_TRY(std::string text, read_text_file(path, 64 << 20));
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("'{}': not valid JSON", path);
  auto recipe = recipe_from_json(json);
  if (!recipe) return fail("'{}': {}", path, recipe.error().message);
  return recipe;
}

Status save_recipe(const Recipe& recipe, const std::string& path) {
  return write_file_atomically(path, to_json(recipe).dump(1) + "\n");
}

}  // namespace rung

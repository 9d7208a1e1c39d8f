// Checks and converts the options of callers.
// SPDX-License-Identifier: Apache-2.0
#include "api/options.hpp"

#include <cstring>

#include "api/answer.hpp"
#include "api/tensors.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "tasks/build.hpp"
#include "tune/database.hpp"

namespace rung {
namespace {

Result<Shape> shape_of(const rung_named_shape& given) {
  if (!given.name) return wrong_usage("shapes: got NULL for a name");
  if (given.ndim < 0 || given.ndim > Dims::kMaxRank)
    return wrong_usage("shape of '{}': got {} dimensions, wanted at most {}", given.name, given.ndim, Dims::kMaxRank);
  RUNG_TRY(auto extents, array_of(given.shape, static_cast<size_t>(given.ndim), "shape"));
  const Shape shape(extents);
  for (int64_t extent : shape)
    if (extent < 1) return wrong_usage("shape of '{}': got {}, wanted positive extents", given.name, shape);
  return shape;
}

}  // namespace

Result<OpenOptions> model_options(const char* path, const rung_options* options) {
  RUNG_CHECK(want(path, "path"));
  RUNG_TRY(rung_options given, options_of(options, rung_options RUNG_OPTIONS_INIT, "rung_options"));
  OpenOptions model{.path = path,
                    .device = {},
                    .threads = given.threads,
                    .dtype = {},
                    .drop_head = given.drop_head,
                    .code = given.trust_code ? CodeUse::trusted : CodeUse::checked};
  RUNG_TRY(model.dtype, parse_dtype(given.dtype ? given.dtype : "model"));
  RUNG_TRY(Shapes shapes, shapes_of(given.shapes, given.shape_count));
  model.shapes.insert(shapes.begin(), shapes.end());
  RUNG_TRY(model.device, asked_device(given.device ? given.device : ""));
  return model;
}

Result<Shapes> shapes_of(const rung_named_shape* first, size_t count) {
  RUNG_TRY(auto given, array_of(first, count, "shapes"));
  Shapes shapes;
  for (const rung_named_shape& named : given) {
    RUNG_TRY(Shape shape, shape_of(named));
    if (!shapes.emplace(named.name, shape).second) return wrong_usage("shapes: '{}' is given twice", named.name);
  }
  return shapes;
}

Result<std::vector<std::string>> texts_of(const char* const* first, size_t count, const char* name) {
  RUNG_TRY(auto given, array_of(first, count, name));
  std::vector<std::string> texts;
  for (const char* text : given) {
    RUNG_CHECK(want(text, name));
    texts.emplace_back(text);
  }
  return texts;
}

Result<GivenArrays> arrays_of(const rung_named_tensor* first, size_t count, const char* name) {
  RUNG_TRY(auto given, array_of(first, count, name));
  RUNG_TRY(NamedTensors copies, copies_of(given));
  return given_arrays(std::move(copies));
}

Result<DecodeOptions> decode_options(const rung_decode_options* options) {
  RUNG_TRY(auto given, options_of(options, rung_decode_options RUNG_DECODE_OPTIONS_INIT, "rung_decode_options"));
  DecodeOptions made{.keeps_special = given.keep_special};
  switch (given.clean_up) {
    case RUNG_CLEAN_UP_AS_SAVED:
      return made;
    case RUNG_CLEAN_UP_OFF:
    case RUNG_CLEAN_UP_ON:
      made.cleans_up = given.clean_up == RUNG_CLEAN_UP_ON;
      return made;
  }
  return wrong_usage("clean_up: got {}, wanted {} (as saved), {} (off) or {} (on)", static_cast<int>(given.clean_up),
                     static_cast<int>(RUNG_CLEAN_UP_AS_SAVED), static_cast<int>(RUNG_CLEAN_UP_OFF),
                     static_cast<int>(RUNG_CLEAN_UP_ON));
}

Status check_place(const rung_text* text) {
  RUNG_CHECK(want(text, "text"));
  return text->room > 0 ? want(text->data, "text.data") : Status{};
}

void write_text(const std::string& text, rung_text& place) {
  place.bytes = text.size();
  if (text.size() < place.room) std::memcpy(place.data, text.c_str(), text.size() + 1);
}

Result<PlanSet> plans_at(const char* path, const rung_options* options) {
  RUNG_TRY(OpenOptions model, model_options(path, options));
  RUNG_TRY(Opened opened, rung::open_model(model));
  return plans_of(opened, {}, model);
}

Result<std::shared_ptr<const Plan>> built_plan(const char* path, const rung_build_options* options) {
  RUNG_TRY(auto given, options_of(options, rung_build_options RUNG_BUILD_OPTIONS_INIT, "rung_build_options"));
  tasks::BuildTask task{.retune = given.retune, .budget_s = given.budget_s};
  RUNG_TRY(task.model, model_options(path, given.model));
  RUNG_TRY(task.model.inputs, arrays_of(given.inputs, given.input_count, "inputs"));
  RUNG_TRY(task.model.freeze, texts_of(given.freeze, given.freeze_count, "freeze"));
  if (given.recipe) {
    RUNG_TRY(task.recipe, parse_recipe(given.recipe));
  }
  task.database = given.database ? given.database : default_database_path();
  RUNG_TRY(tasks::BuiltPlan built, tasks::build(task));
  return built.plan;
}

}  // namespace rung

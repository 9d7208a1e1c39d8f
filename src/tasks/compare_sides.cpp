// Opens a plan first, because a directory beside it takes the plan's device and shapes.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/compare_sides.hpp"

#include <algorithm>

#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/recipe.hpp"

namespace rung::tasks {
namespace {

// Returns the options that a plan takes; the others are for the directory beside it.
OpenOptions for_plan(const OpenOptions& options) {
  return {.device = options.device,
          .shapes = options.shapes,
          .inputs = options.inputs,
          .code = options.code,
          .command_line = options.command_line};
}

OpenOptions for_directory(OpenOptions options, const OpenedSide* beside) {
  if (!beside) return options;
  if (!options.device) options.device = beside->plan->target->word();
  if (!options.shapes.empty() || !options.inputs.types.empty()) return options;
  for (const auto& input : beside->plan->inputs) options.shapes.emplace(input.name, input.type.shape);
  return options;
}

Status open_side(const CompareTask& task, bool makes_plans, const OpenedSide* other, OpenedSide& side) {
  const bool only_plans = is_plan_file(task.a.path) && is_plan_file(task.b.path);
  const OpenedSide* plan = other && other->plan ? other : nullptr;
  if (only_plans)
    side.model = task.model;
  else
    side.model = is_plan_file(side.asked.path) ? for_plan(task.model) : for_directory(task.model, plan);
  side.model.path = side.asked.path;
  RUNG_TRY(side.opened, open_model(side.model));
  if (makes_plans || side.opened.plans) {
    RUNG_TRY(side.plan, plan_of(side.opened, side.asked.recipe, side.model));
  }
  side.ports = side.plan ? ports_of(*side.plan) : ports_of(*side.opened.subject, *side.opened.target);
  return {};
}

}  // namespace

Result<std::array<OpenedSide, 2>> open_sides(const CompareTask& task) {
  std::array<OpenedSide, 2> sides{OpenedSide{.asked = task.a}, OpenedSide{.asked = task.b}};
  const bool makes_plans = task.a.tool.empty() && task.b.tool.empty();
  const size_t first = is_plan_file(task.b.path) && !is_plan_file(task.a.path) ? 1 : 0;
  for (const size_t at : {first, 1 - first}) {
    const Status opened = open_side(task, makes_plans, at == first ? nullptr : &sides[first], sides[at]);
    if (!opened) return fail_in(opened.error(), "{}", at == 0 ? "A" : "B");
  }
  return sides;
}

DType precision_of(const OpenedSide& side) {
  if (side.plan) return computed_in(*side.plan);
  if (side.asked.recipe) return narrowest(side.asked.recipe->precision);
  if (side.model.dtype) return *side.model.dtype;
  const Graph& graph = side.opened.subject->model.graph;
  DType found = DType::f32;
  for (NodeId id : graph.order()) found = coarser(found, graph.type(id).dtype);
  return found;
}

Result<std::vector<std::string>> arguments_of(const OpenedSide& side, const std::string& recipe_file) {
  OpenOptions without_shapes = side.model;
  without_shapes.shapes.clear();
  std::vector<std::string> all = command_line_of(without_shapes);
  if (!side.asked.recipe) return all;
  RUNG_CHECK(save_recipe(*side.asked.recipe, recipe_file));
  all.insert(all.end(), {"--recipe", recipe_file});
  return all;
}

}  // namespace rung::tasks

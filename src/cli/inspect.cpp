// rung inspect: shows the parts of a model or plan; loads no weight.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/scopes_text.hpp"
#include "cli/terminal.hpp"
#include "ir/text.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "measure/cost.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "tasks/scopes.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct InspectFlags {
  CommonOptions common;
  std::string recipe, code;
  bool graph = false, scopes = false;
};

struct OpTotals {
  size_t count = 0;
  double flops = 0, bytes = 0;
};

Json port(const std::string& name, const Type& type) { return {{"name", name}, {"type", to_string(type)}}; }

std::map<std::string, OpTotals> totals_of(const Graph& graph) {
  std::map<std::string, OpTotals> totals;
  for (NodeId id : graph.order()) {
    OpTotals& t = totals[std::string(name_of(graph[id].op))];
    Cost cost = cost_of(graph, id);
    ++t.count, t.flops += cost.flops, t.bytes += cost.bytes;
  }
  return totals;
}

Json describe(const Graph& graph, const Model& model) {
  Json inputs = Json::array(), outputs = Json::array(), ops = Json::object();
  for (NodeId id : graph.inputs()) {
    if (graph.state_of(graph.as<Input>(id)->name)) continue;
    Json entry = port(graph.as<Input>(id)->name, graph.type(id));
    const auto& known = model.defaults.at(graph.as<Input>(id)->name);
    entry["meaning"] = known.meaning;
    entry["required"] = !known.value.has_value();
    inputs.push_back(std::move(entry));
  }
  for (const Output& output : graph.outputs()) outputs.push_back(port(output.name, graph.type(output.node)));
  double flops = 0;
  for (const auto& [name, t] : totals_of(graph))
    ops[name] = {{"count", t.count}, {"flops", t.flops}, {"bytes", t.bytes}}, flops += t.flops;
  return {{"model", model.name},
          {"architecture", model.architecture},
          {"parameters", count_parameters(model.graph)},
          {"nodes", graph.size()},
          {"flops", flops},
          {"inputs", inputs},
          {"outputs", outputs},
          {"ops", ops},
          {"notes", model.notes}};
}

// Lists the kernels whose code the plan's file holds; sizes are in bytes.
Json describe_code(const Plan& plan) {
  Json list = Json::array();
  for (const auto& code : plan.code)
    list.push_back({{"name", code->name},
                    {"target", code->target},
                    {"compiler", code->compiler},
                    {"source_bytes", code->source.size()},
                    {"image", code->image->hash},
                    {"image_bytes", code->image->bytes.size()}});
  return list;
}

Json describe(const Plan& plan) {
  Json inputs = Json::array(), outputs = Json::array(), kernels = Json::object();
  for (const auto& input : plan.inputs) inputs.push_back(port(input.name, input.type));
  for (const auto& output : plan.outputs) outputs.push_back(port(output.name, output.type));
  for (const auto& step : plan.steps) kernels[step.choice.kernel] = kernels.value(step.choice.kernel, 0) + 1;
  Json frozen = Json::array(), states = Json::array();
  for (const auto& state : plan.states) states.push_back(port(state.name, state.type));
  for (const auto& f : plan.frozen) frozen.push_back(port(f.name, f.value.type()));
  return {{"model", plan.model},
          {"architecture", plan.architecture},
          {"device", plan.device},
          {"shapes", shape_words(input_shapes(plan))},
          {"launches", plan.steps.size()},
          {"kernels", kernels},
          {"weight_bytes", plan.weight_bytes()},
          {"arena_bytes", plan.arena_bytes},
          {"inputs", inputs},
          {"outputs", outputs},
          {"frozen", frozen},
          {"states", states},
          {"code", describe_code(plan)},
          {"recipe", to_json(plan.recipe)}};
}

// Describes the selected plan, or all plans if the options select none.
Json describe(const PlanSet& plans, const Plan* selected) {
  if (selected) return describe(*selected);
  Json json{{"model", plans.first().model},
            {"architecture", plans.first().architecture},
            {"device", plans.first().device},
            {"weight_bytes", plans.weight_bytes()},
            {"plans", Json::array()}};
  for (const auto& plan : plans) json["plans"].push_back(describe(*plan));
  return json;
}

void print_json_as_text(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    if (!value.is_structured()) {
      fmt::print("{:<14} {}\n", key, value.is_string() ? value.get<std::string>() : dump_json(value));
      continue;
    }
    fmt::print("{}\n", key);
    for (const auto& [name, entry] : value.items())
      fmt::print("  {}{}\n", value.is_array() ? "" : name + "  ", dump_json(entry));
  }
}

// Shows the launches of the recipe's plan by the author's scopes.
Status inspect_scopes(const InspectFlags& options, const OpenOptions& model, const Opened& opened) {
  RUNG_TRY(auto given, recipe_in(options.recipe));
  RUNG_TRY(Recipe recipe, recipe_of(opened, given, model));
  const Graph& graph = opened.subject->model.graph;
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = opened.target, .contents = false}));
  const tasks::Scope scopes = tasks::scopes_of(graph, built);
  if (options.common.json)
    print_json({{"model", opened.subject->model.name}, {"scopes", to_json(scopes)}});
  else
    fmt::print("{}", scopes_text(scopes));
  return {};
}

Status inspect_model(const InspectFlags& options, const OpenOptions& model, const Opened& opened) {
  const Subject& subject = *opened.subject;
  Graph graph = subject.model.graph;
  PassReport report;
  Json json;
  if (!options.recipe.empty()) {
    RUNG_TRY(auto given, recipe_in(options.recipe));
    RUNG_TRY(Recipe recipe, recipe_of(opened, given, model));
    RUNG_TRY(graph, apply_passes(graph, recipe, &report, {.target = opened.target}));
  }
  if (options.graph && !options.common.json) return fmt::print("{}", print(graph)), Status{};
  json = describe(graph, subject.model);
  if (options.graph) json["graph"] = print(graph);
  for (const auto& row : report.rows)
    json["passes"].push_back({{"name", row.name},
                              {"rung", row.rung},
                              {"changed", row.changed},
                              {"ms", row.ms},
                              {"nodes", row.nodes_after},
                              {"notes", row.notes}});
  if (options.common.json)
    print_json(json);
  else
    print_json_as_text(json);
  return {};
}

// Prints the source of one kernel of the plans' file.
Status inspect_code(const InspectFlags& options, const PlanSet& plans) {
  for (const auto& plan : plans)
    for (const auto& code : plan->code) {
      if (code->name != options.code) continue;
      if (options.common.json)
        print_json({{"name", code->name}, {"target", code->target}, {"source", code->source}});
      else
        fmt::print("{}", code->source);
      return {};
    }
  return mismatch("'{}' holds no code '{}'; 'rung inspect {}' lists what it holds", options.common.model, options.code,
                  options.common.model);
}

Status run_inspect(const InspectFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(OpenOptions model, model_options(options.common));
  model.code = CodeUse::shown;
  RUNG_TRY(Opened opened, rung::open_model(model));
  if (opened.subject && !options.code.empty())
    return wrong_usage("'{}' is no plan: --code prints code of a plan", options.common.model);
  if (opened.subject && options.scopes) return inspect_scopes(options, model, opened);
  if (opened.subject) return inspect_model(options, model, opened);
  if (options.graph || options.scopes || !options.recipe.empty())
    return wrong_usage("'{}' is a plan: --graph, --scopes and --recipe need a model", options.common.model);
  if (!options.code.empty()) return inspect_code(options, *opened.plans);
  Json json = describe(*opened.plans, opened.plan.get());
  if (options.common.json)
    print_json(json);
  else
    print_json_as_text(json);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> inspect_command(CLI::App& app) {
  auto options = std::make_shared<InspectFlags>();
  auto* command = add_command(app, "inspect", "list what a model or plan is made of");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe).described("run this recipe's passes first");
  add(*command, "graph", options->graph);
  add(*command, "scopes", options->scopes);
  add(*command, "code", options->code);
  return {command, [options] { return run_inspect(*options); }};
}

}  // namespace rung::cli

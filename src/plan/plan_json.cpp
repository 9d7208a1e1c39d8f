// Writes plans as JSON: positional arrays for entries that repeat thousands of times, named fields elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json.hpp"
#include "base/whole.hpp"
#include "ir/text.hpp"
#include "kernels/choice_json.hpp"
#include "kernels/operand_json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

Json type_to_json(const Type& type) { return Json::array({name_of(type.dtype), dims_to_json(type.shape)}); }

// [storage, index, offset, dtype, shape, strides, constant]
Json plan_operand_to_json(const PlanOperand& o) {
  Json json = Json::array({o.storage == Storage::weight ? 1 : 0, o.index, o.offset});
  for (Json& part : operand_to_json(o.view)) json.push_back(std::move(part));
  return json;
}

Json step_to_json(const Step& step) {
  Json inputs = Json::array();
  for (const auto& input : step.inputs) inputs.push_back(plan_operand_to_json(input));
  Json json = to_short_json(step.choice);
  json.update({{"op", print_op(step.op)},
               {"in", std::move(inputs)},
               {"out", plan_operand_to_json(step.output)},
               {"label", step.label},
               {"category", static_cast<int>(step.category)},
               {"flops", step.flops},
               {"bytes", step.bytes}});
  if (step.scratch) json["scratch"] = *step.scratch;
  return json;
}

// The readers throw; plan_from_json() turns their exceptions into a Status.

void check_shape(const Shape& shape) {
  int64_t product = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(product, std::max<int64_t>(dim, 1), &product) || product > int64_t{1} << 48)
      throw std::out_of_range("shape out of range: " + to_string(shape));
}

Type type_from_json(const Json& json) {
  Type type{dtype_from_json(json.at(0)), dims_from_json(json.at(1))};
  check_shape(type.shape);
  return type;
}

PlanOperand plan_operand_from_json(const Json& json) {
  PlanOperand operand{whole<int>(json.at(0)) ? Storage::weight : Storage::buffer, whole<uint32_t>(json.at(1)),
                      whole<uint64_t>(json.at(2)), operand_from_json(json, 3)};
  check_shape(operand.view.shape);
  if (operand.view.strides.rank() != operand.view.shape.rank())
    throw std::out_of_range("strides and shape differ in rank");
  return operand;
}

Step step_from_json(const Json& json) {
  Step step{.choice = value_or_throw(choice_from_json(json)),
            .op = value_or_throw(parse_op(json.at("op").get<std::string>()))};
  for (const Json& input : json.at("in")) step.inputs.push_back(plan_operand_from_json(input));
  step.output = plan_operand_from_json(json.at("out"));
  step.label = json.at("label").get<std::string>();
  int category = whole<int>(json.at("category"));
  if (category < 0 || category >= static_cast<int>(kCategoryNames.size())) throw std::out_of_range("unknown category");
  step.category = static_cast<Category>(category);
  step.flops = json.at("flops").get<double>();
  step.bytes = json.at("bytes").get<double>();
  if (json.contains("scratch")) step.scratch = whole<uint32_t>(json["scratch"]);
  return step;
}

PlanInput input_from_json(const Json& json) {
  PlanInput input{json.at("name").get<std::string>(),
                  type_from_json(json.at("type")),
                  whole<uint32_t>(json.at("buffer")),
                  {},
                  {},
                  {},
                  {}};
  input.meaning = json.value("meaning", "");
  if (json.contains("first")) input.first = whole<int64_t>(json["first"]);
  if (json.contains("last")) input.last = whole<int64_t>(json["last"]);
  return input;
}

constexpr std::array<std::string_view, 3> kInitialNames{"nothing", "zeros", "value"};

PlanState state_from_json(const Json& json) {
  const auto initial = std::ranges::find(kInitialNames, json.at("initial").get<std::string>());
  if (initial == kInitialNames.end()) throw std::out_of_range("unknown initial value of a state");
  return {.name = json.at("name").get<std::string>(),
          .type = type_from_json(json.at("type")),
          .buffer = whole<uint32_t>(json.at("buffer")),
          .initial = static_cast<Initial>(initial - kInitialNames.begin()),
          .value = {}};
}

Json ports_to_json(const Plan& plan) {
  Json inputs = Json::array(), outputs = Json::array(), frozen = Json::array();
  for (const auto& i : plan.inputs) {
    Json json{{"name", i.name}, {"type", type_to_json(i.type)}, {"buffer", i.buffer}, {"meaning", i.meaning}};
    if (i.first) json["first"] = *i.first;
    if (i.last) json["last"] = *i.last;
    inputs.push_back(std::move(json));
  }
  for (const auto& o : plan.outputs)
    outputs.push_back({{"name", o.name}, {"type", type_to_json(o.type)}, {"buffer", o.buffer}});
  for (const auto& f : plan.frozen) frozen.push_back(f.name);
  Json states = Json::array();
  for (const auto& s : plan.states)
    states.push_back({{"name", s.name},
                      {"type", type_to_json(s.type)},
                      {"buffer", s.buffer},
                      {"initial", kInitialNames[static_cast<size_t>(s.initial)]}});
  return Json{{"states", std::move(states)},
              {"inputs", std::move(inputs)},
              {"outputs", std::move(outputs)},
              {"frozen", std::move(frozen)}};
}

Json stages_to_json(const std::vector<Stage>& stages) {
  Json json = Json::array();
  for (const Stage& stage : stages) json.push_back(Json::array({stage.name, stage.scopes}));
  return json;
}

Plan read_plan(const Json& json) {
  Plan plan;
  plan.model = json.at("model").get<std::string>();
  plan.architecture = json.at("architecture").get<std::string>();
  plan.device = json.at("device").get<std::string>();
  plan.recipe = value_or_throw(recipe_from_json(json.at("recipe")));
  for (const Json& stage : json.value("stages", Json::array()))
    plan.stages.push_back({stage.at(0).get<std::string>(), stage.at(1).get<std::vector<std::string>>()});
  for (const Json& step : json.at("steps")) plan.steps.push_back(step_from_json(step));
  for (const Json& b : json.at("buffers"))
    plan.buffers.push_back(
        {whole<uint64_t>(b.at(0)), whole<uint64_t>(b.at(1)), whole<uint32_t>(b.at(2)), whole<uint32_t>(b.at(3))});
  for (const Json& w : json.at("weights"))
    plan.weights.push_back({w.at(0).get<std::string>(), whole<uint64_t>(w.at(1)), nullptr});
  const Json& ports = json.at("ports");
  for (const Json& i : ports.at("inputs")) plan.inputs.push_back(input_from_json(i));
  for (const Json& o : ports.at("outputs"))
    plan.outputs.push_back(
        {o.at("name").get<std::string>(), type_from_json(o.at("type")), whole<uint32_t>(o.at("buffer"))});
  for (const Json& s : ports.at("states")) plan.states.push_back(state_from_json(s));
  for (const Json& f : ports.at("frozen")) plan.frozen.push_back({f.get<std::string>(), {}});
  plan.attachments = json.at("attachments").get<std::map<std::string, std::string>>();
  plan.arena_bytes = whole<uint64_t>(json.at("arena_bytes"));
  return plan;
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  Json steps = Json::array(), buffers = Json::array(), weights = Json::array();
  for (const auto& step : plan.steps) steps.push_back(step_to_json(step));
  for (const auto& b : plan.buffers) buffers.push_back(Json::array({b.offset, b.bytes, b.first_step, b.last_step}));
  for (const auto& w : plan.weights) weights.push_back(Json::array({w.name, w.bytes}));
  return Json{{"model", plan.model},
              {"architecture", plan.architecture},
              {"device", plan.device},
              {"recipe", to_json(plan.recipe)},
              {"stages", stages_to_json(plan.stages)},
              {"steps", std::move(steps)},
              {"buffers", std::move(buffers)},
              {"weights", std::move(weights)},
              {"ports", ports_to_json(plan)},
              {"attachments", plan.attachments},
              {"arena_bytes", plan.arena_bytes}};
}

Result<Plan> plan_from_json(const Json& json) {
  try {
    return read_plan(json);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return fail("{}", reason_of(e));
  }
}

}  // namespace rung

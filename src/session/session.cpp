// Sessions: checking and placing inputs, running, collecting outputs.
// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <cstring>

#include "ir/finite.hpp"
#include "plan/mask_inputs.hpp"
#include "plan/named.hpp"

namespace rung {
namespace {

Status check_range(const PlanInput& input, const Tensor& value) {
  if (!input.first || !input.last || (value.dtype() != DType::i64 && value.dtype() != DType::i32)) return {};
  Tensor wide = convert(value, DType::i64);
  for (int64_t v : wide.as<int64_t>())
    if (v < *input.first || v > *input.last)
      return mismatch("input '{}': got value {}, wanted {} to {}", input.name, v, *input.first, *input.last);
  return {};
}

Status check_given(const Plan& plan, const NamedTensors& given) {
  for (const auto& [name, value] : given) {
    if (const auto* frozen = find_named(plan.frozen, name)) {
      RUNG_CHECK(check_frozen_input(*frozen, value));
    } else if (const auto* input = find_named(plan.inputs, name)) {
      RUNG_CHECK(check_plan_input(plan, *input, value));
    } else {
      std::string names;
      for (const auto& known : plan.inputs) names += (names.empty() ? "" : ", ") + known.name;
      return mismatch("there is no input '{}'; the inputs are: {}", name, names);
    }
  }
  for (const auto& input : plan.inputs)
    if (!input.value && !given.contains(input.name))
      return mismatch("input '{}' ({}) is missing and has no default", input.name, input.type);
  return {};
}

}  // namespace

Status check_plan_input(const Plan& plan, const PlanInput& input, const Tensor& value) {
  if (!(value.type() == input.type))
    return mismatch("input '{}': got {}, wanted {}", input.name, value.type(), input.type);
  RUNG_CHECK(check_range(input, value));
  return check_input_floats(fmt::format("input '{}'", input.name), value, [&] { return leads_to_mask(plan, input); });
}

Status check_frozen_input(const FrozenInput& frozen, const Tensor& value) {
  if (!(value.type() == frozen.value.type()))
    return mismatch("input '{}': got {}, wanted {}", frozen.name, value.type(), frozen.value.type());
  if (std::memcmp(value.data(), frozen.value.data(), value.bytes()) != 0)
    return mismatch(
        "input '{}' is frozen in this plan at another value: build a plan for this one, or do not freeze it",
        frozen.name);
  return {};
}

Result<Session> Session::create(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team,
                                SessionOptions options) {
  if (plan->target->gpu) {
    RUNG_TRY(auto recorder, make_gpu_recorder(*plan, options.stepwise));
    return Session(std::move(plan), std::move(team), std::move(recorder));
  }
  if (plan->recipe.threads != team->size())
    return mismatch("the plan was built for {} threads, got a team of {}", plan->recipe.threads, team->size());
  std::unique_ptr<Recorder> recorder;
  if (plan->recipe.capture && !options.stepwise) {
    RUNG_TRY(recorder, make_captured_recorder(*plan, *team));
  } else {
    recorder = make_eager_recorder(*plan, *team);
  }
  return Session(std::move(plan), std::move(team), std::move(recorder));
}

Status Session::set_inputs(const NamedTensors& given) {
  RUNG_CHECK(check_given(*plan_, given));
  for (const auto& input : plan_->inputs) {
    auto it = given.find(input.name);
    const Tensor& value = it == given.end() ? *input.value : it->second;
    RUNG_CHECK(recorder_->write(input.buffer, value.data(), value.bytes()));
  }
  return {};
}

Result<std::vector<std::pair<std::string, Tensor>>> Session::outputs() const {
  std::vector<std::pair<std::string, Tensor>> all;
  for (const auto& output : plan_->outputs) {
    Tensor tensor(output.type);
    RUNG_CHECK(recorder_->read(output.buffer, tensor.data(), tensor.bytes()));
    all.emplace_back(output.name, std::move(tensor));
  }
  return all;
}

Result<std::vector<std::pair<std::string, Tensor>>> Session::infer(const NamedTensors& given) {
  RUNG_CHECK(set_inputs(given));
  RUNG_CHECK(run());
  return outputs();
}

}  // namespace rung

// Sets of plans: checks that the plans agree, shares their weights, and finds the plan for given shapes.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_set.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <set>

#include "plan/named.hpp"
#include "plan/state_use.hpp"

namespace rung {
namespace {

template <class Ports>
std::vector<std::string> names_of(const Ports& ports) {
  std::vector<std::string> names;
  for (const auto& port : ports) names.push_back(port.name);
  return names;
}

template <class Value>
Status check_same(const char* what, const Value& got, const Value& wanted) {
  return got == wanted ? Status{}
                       : rung::mismatch("plans of one set differ in {}: got {}, wanted {}", what, got, wanted);
}

bool shares_a_state(const Plan& a, const Plan& b) {
  return std::ranges::any_of(a.states, [&](const PlanState& state) { return find_named(b.states, state.name); });
}

// An encoder's plan and those of its decoder take and give other values, and belong together by their states.
Status check_agrees(const Plan& plan, const Plan& first) {
  RUNG_CHECK(check_same("their model", plan.model, first.model));
  RUNG_CHECK(check_same("their architecture", plan.architecture, first.architecture));
  RUNG_CHECK(check_same("their device", plan.device, first.device));
  if (!shares_a_state(plan, first)) {
    RUNG_CHECK(check_same("their inputs", names_of(plan.inputs), names_of(first.inputs)));
    RUNG_CHECK(check_same("their frozen inputs", names_of(plan.frozen), names_of(first.frozen)));
    RUNG_CHECK(check_same("their outputs", names_of(plan.outputs), names_of(first.outputs)));
  }
  return plan.attachments == first.attachments ? Status{}
                                               : rung::mismatch("plans of one set differ in their attachments");
}

bool same_initial(const PlanState& a, const PlanState& b) {
  if (a.initial != b.initial || !(a.type == b.type)) return false;
  return !a.value || std::memcmp(a.value->data(), b.value->data(), a.value->bytes()) == 0;
}

// Facts about a state that several plans name.
struct Shared {
  const PlanState* state;
  bool is_read = false, is_made = false;  // an earlier run's value is read; a plan writes it without reading it
};

Status check_states(const std::vector<Plan>& plans) {
  std::map<std::string_view, Shared> states;
  for (const Plan& plan : plans)
    for (const PlanState& state : plan.states) {
      Shared& shared = states.try_emplace(state.name, Shared{&state}).first->second;
      if (!same_initial(state, *shared.state))
        return rung::mismatch("state '{}' has another type or initial value in another plan of the set", state.name);
      const StateUse use = use_of(plan, state);
      shared.is_read = shared.is_read || use.reads_first;
      shared.is_made = shared.is_made || (use.writes && !use.reads_first);
    }
  for (const auto& [name, shared] : states)
    if (shared.is_read && !shared.is_made && shared.state->initial == Initial::nothing)
      return rung::mismatch("state '{}' is read before any plan writes it, and has no initial value", name);
  return {};
}

// Returns how many of the shapes are its inputs'; none: it has another shape for one of them.
std::optional<size_t> shapes_known(const Plan& plan, const Shapes& shapes) {
  const Shapes own = input_shapes(plan);
  size_t known = 0;
  for (const auto& [name, shape] : shapes) {
    const auto found = own.find(name);
    if (found == own.end()) continue;
    if (found->second != shape) return std::nullopt;
    ++known;
  }
  return known;
}

}  // namespace

// Blocks of a plan file, which are read when they are uploaded, are shared from the start.
void SharedWeights::share(Plan& plan) {
  for (PlanWeight& weight : plan.weights) {
    if (!weight.data || weight.read) continue;
    auto& held = by_name_[{weight.name, weight.bytes}];
    const auto is_same = [&](const auto& block) {
      return block == weight.data || std::memcmp(block.get(), weight.data.get(), weight.bytes) == 0;
    };
    const auto same = std::ranges::find_if(held, is_same);
    same == held.end() ? held.push_back(weight.data) : static_cast<void>(weight.data = *same);
  }
}

Shapes input_shapes(const Plan& plan) {
  Shapes shapes;
  for (const PlanInput& input : plan.inputs) shapes[input.name] = input.type.shape;
  for (const FrozenInput& frozen : plan.frozen) shapes[frozen.name] = frozen.value.type().shape;
  return shapes;
}

Shapes shapes_of(const NamedTensors& tensors) {
  Shapes shapes;
  for (const auto& [name, tensor] : tensors) shapes[name] = tensor.type().shape;
  return shapes;
}

std::string shape_words(const Shapes& shapes) {
  std::string words;
  for (const auto& [name, shape] : shapes)
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, fmt::join(shape, ","));
  return words;
}

Result<PlanSet> PlanSet::make(std::vector<Plan> plans) {
  if (plans.empty()) return rung::mismatch("got no plan, wanted at least one");
  std::set<std::string> served;
  for (const Plan& plan : plans) {
    RUNG_CHECK(check_agrees(plan, plans[0]));
    if (!served.insert(shape_words(input_shapes(plan))).second)
      return rung::mismatch("two plans of one set serve the same shapes: {}", shape_words(input_shapes(plan)));
  }
  RUNG_CHECK(check_states(plans));
  SharedWeights weights;
  std::vector<std::shared_ptr<const Plan>> shared;
  for (Plan& plan : plans) {
    weights.share(plan);
    shared.push_back(std::make_shared<const Plan>(std::move(plan)));
  }
  return PlanSet(std::move(shared));
}

Result<size_t> PlanSet::serving(const Shapes& shapes) const {
  std::vector<size_t> found;
  size_t most = 0;
  for (size_t i = 0; i < plans_.size(); ++i) {
    const auto known = shapes_known(*plans_[i], shapes);
    if (!known || *known < most) continue;
    if (*known > most) found.clear();
    most = *known;
    found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return rung::mismatch("no plan is for {}; there is one for: {}", shape_words(shapes), served());
  return rung::mismatch("{} fits several plans; there is one for: {}",
                        shapes.empty() ? "no shape" : shape_words(shapes), served());
}

std::string PlanSet::served() const {
  std::string words;
  for (const auto& plan : plans_) words += (words.empty() ? "" : "; ") + shape_words(input_shapes(*plan));
  return words;
}

uint64_t PlanSet::weight_bytes() const {
  std::set<const std::byte*> counted;
  uint64_t total = 0;
  for (const auto& plan : plans_)
    for (const PlanWeight& weight : plan->weights)
      if (counted.insert(weight.data.get()).second) total += weight.bytes;
  return total;
}

}  // namespace rung

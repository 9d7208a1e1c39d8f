// Compares ports of plans and subjects name by name.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/shared_inputs.hpp"

#include <algorithm>
#include <cstring>

#include "open/inputs.hpp"

namespace rung::tasks {
namespace {

Status check_inputs(const Ports& a, const Ports& b) {
  for (const auto& [name, type] : a.inputs) {
    const auto other = b.inputs.find(name);
    if (other == b.inputs.end()) return mismatch("A reads an input '{}', which B does not have", name);
    if (!(other->second == type))
      return mismatch("input '{}' is {} in A and {} in B: both sides must read the same inputs", name, type,
                      other->second);
  }
  for (const auto& [name, type] : b.inputs)
    if (!a.inputs.contains(name)) return mismatch("B reads an input '{}', which A does not have", name);
  return {};
}

Status check_frozen(const Ports& a, const Ports& b) {
  for (const auto& [name, value] : a.frozen) {
    const auto other = b.frozen.find(name);
    if (other == b.frozen.end()) continue;
    if (std::memcmp(value.data(), other->second.data(), value.bytes()) != 0)
      return mismatch("input '{}' is frozen at one value in A and at another in B", name);
  }
  return {};
}

}  // namespace

Ports ports_of(const Plan& plan) {
  Ports ports{.device = plan.target->name, .fingerprint = plan.target->fingerprint};
  for (const auto& input : plan.inputs) ports.inputs[input.name] = input.type;
  for (const auto& output : plan.outputs) ports.outputs[output.name] = output.type;
  for (const auto& frozen : plan.frozen) {
    ports.inputs[frozen.name] = frozen.value.type();
    ports.frozen[frozen.name] = frozen.value;
  }
  return ports;
}

Ports ports_of(const Subject& subject, const Target& target) {
  Ports ports{.device = target.name, .fingerprint = target.fingerprint, .frozen = subject.frozen};
  const Graph& graph = subject.model.graph;
  for (NodeId id : graph.inputs()) ports.inputs[graph.as<Input>(id)->name] = graph.type(id);
  for (const auto& output : graph.outputs()) ports.outputs[output.name] = graph.type(output.node);
  for (const auto& [name, value] : subject.frozen) ports.inputs[name] = value.type();
  return ports;
}

Status check_comparable(const Ports& a, const Ports& b) {
  if (a.device != b.device || a.fingerprint != b.fingerprint)
    return mismatch("A runs on {} ({}) and B on {} ({}): both sides must run on the same device", a.device,
                    a.fingerprint, b.device, b.fingerprint);
  RUNG_CHECK(check_inputs(a, b));
  RUNG_CHECK(check_frozen(a, b));
  if (std::ranges::any_of(a.outputs, [&](const auto& output) { return b.outputs.contains(output.first); })) return {};
  return mismatch("A and B have no output in common");
}

NamedTensors shared_inputs(const Opened& a, const std::shared_ptr<const Plan>& plan, const NamedTensors& given,
                           const NamedTensors& frozen) {
  NamedTensors values = given;
  values.insert(frozen.begin(), frozen.end());
  if (!plan) return sample_missing(*a.subject, values, 1);
  for (const auto& input : plan->inputs)
    if (input.value) values.emplace(input.name, *input.value);
  return sample_missing(*plan, values, 1);
}

}  // namespace rung::tasks

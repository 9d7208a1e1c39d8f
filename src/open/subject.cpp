// Copies the facts that a plan needs from its model.
// SPDX-License-Identifier: Apache-2.0
#include "open/subject.hpp"

#include <algorithm>

#include "session/decoder_ports.hpp"

namespace rung {

void begin_with(Subject& subject, NamedTensors states, int64_t places) {
  subject.start = {.states = std::move(states)};
  const auto& inputs = subject.model.defaults;
  auto tokens = inputs.find(decoder_ports::kDecoderTokens);
  if (tokens == inputs.end()) tokens = inputs.find(decoder_ports::kTokens);
  const bool has_place = subject.model.graph.input_named(decoder_ports::kPosition) != kNoNode;
  if (!has_place || tokens == inputs.end() || tokens->second.type.shape.rank() != 2) return;
  const auto position = subject.start.states.find(decoder_ports::kPosition);
  const int64_t before = position == subject.start.states.end() ? 0 : position->second.as<int64_t>()[0];
  const int64_t runs = (places - before) / tokens->second.type.shape[1];
  subject.start.runs = static_cast<size_t>(std::max<int64_t>(1, runs));
}

void attach_model(Plan& plan, const Subject& subject) {
  plan.model = subject.model.name;
  plan.architecture = subject.model.architecture;
  plan.stages = subject.model.stages;
  plan.attachments = subject.attachments;
  for (auto& input : plan.inputs) {
    auto it = subject.model.defaults.find(input.name);
    if (it == subject.model.defaults.end()) continue;
    input.meaning = it->second.meaning;
    input.value = it->second.value;
    if (it->second.range) input.first = it->second.range->first, input.last = it->second.range->last;
  }
  plan.frozen.clear();
  for (const auto& [name, value] : subject.frozen) plan.frozen.push_back({name, value});
}

}  // namespace rung

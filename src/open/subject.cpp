// Copies the facts that a plan needs from its model.
// SPDX-License-Identifier: Apache-2.0
#include "open/subject.hpp"

namespace rung {

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

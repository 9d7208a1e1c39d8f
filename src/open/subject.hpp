// The subject of a climb: the model as its author wrote it, the reference that judges its answers, and the inputs that
// are frozen.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/model.hpp"
#include "plan/plan.hpp"

namespace rung {

struct Subject {
  Model model;
  Graph reference;  // the same model in f32, frozen alike: the judge evaluates it
  NamedTensors frozen;
  std::map<std::string, std::string> attachments;  // the tokenizer's files
};

// Gives a plan the facts that its graph lacks: the model's name, stages, defaults and ranges of inputs, frozen values,
// attachments.
void attach_model(Plan& plan, const Subject& subject);

}  // namespace rung

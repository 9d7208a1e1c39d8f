// The subject of a climb: the model as its author wrote it, the reference that judges its answers, and the inputs that
// are frozen.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/model.hpp"
#include "plan/plan.hpp"
#include "reference/sequence.hpp"

namespace rung {

struct Subject {
  Model model;
  Graph reference;  // the same model in f32, frozen alike: the judge evaluates it
  NamedTensors frozen;
  SequenceStart start;  // of the runs that judge and time it: a decoder's may begin behind a text
  std::map<std::string, std::string> attachments;  // the tokenizer's files
};

// Begins the subject's runs with those states, and again wherever `places` tokens, the text's most, would be exceeded.
// A model without a place in a text has no such limit.
void begin_with(Subject& subject, NamedTensors states, int64_t places);

// Gives a plan the facts that its graph lacks: the model's name, stages, defaults and ranges of inputs, frozen values,
// attachments.
void attach_model(Plan& plan, const Subject& subject);

}  // namespace rung

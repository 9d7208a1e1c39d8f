// Joins equal steps and drops those that no store needs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace rung::generated {
namespace {

thread_local Recorder* recording = nullptr;

// Marks the steps on which those with an effect depend.
std::vector<bool> needed(const std::vector<Step>& steps) {
  std::vector<bool> marks(steps.size());
  for (size_t i = steps.size(); i-- > 0;) {
    if (has_effect(steps[i].primitive)) marks[i] = true;
    for (int o = 0; marks[i] && o < operands_of(steps[i].primitive); ++o)
      marks[static_cast<size_t>(steps[i].operand[o])] = true;
  }
  return marks;
}

}  // namespace

size_t Recorder::StepHash::operator()(const Step& step) const {
  size_t hash = static_cast<size_t>(step.primitive) << 32 | step.immediate;
  for (int operand : step.operand) hash = hash * 0x9e3779b97f4a7c15u + static_cast<size_t>(operand + 1);
  return hash;
}

bool Recorder::is_constant(int step, float value) const {
  const Step& of = body_.steps[static_cast<size_t>(step)];
  return of.primitive == Primitive::constant && of.immediate == std::bit_cast<uint32_t>(value);
}

int Recorder::simplified(const Step& step) const {
  if (step.primitive != Primitive::compare || step.immediate != static_cast<uint32_t>(Predicate::not_equal) ||
      !is_constant(step.operand[1], 0.0f))
    return -1;
  const Step& truth = body_.steps[static_cast<size_t>(step.operand[0])];
  const bool one_or_zero = truth.primitive == Primitive::select && is_constant(truth.operand[1], 1.0f) &&
                           is_constant(truth.operand[2], 0.0f);
  return one_or_zero ? truth.operand[0] : -1;
}

int Recorder::record(const Step& step) {
  if (const int same = simplified(step); same >= 0) return same;
  const auto it = known_.find(step);
  if (it != known_.end()) return it->second;
  body_.steps.push_back(step);
  const int at = static_cast<int>(body_.steps.size()) - 1;
  if (!has_effect(step.primitive)) known_.emplace(step, at);
  return at;
}

uint32_t Recorder::table(const Table& words) {
  auto& tables = body_.tables;
  const auto it = std::find(tables.begin(), tables.end(), words);
  if (it != tables.end()) return static_cast<uint32_t>(it - tables.begin());
  tables.push_back(words);
  return static_cast<uint32_t>(tables.size() - 1);
}

void Recorder::begin_rare(int mask) {
  assert(rare_from_ < 0 && "rare steps do not nest");
  rare_from_ = record(Primitive::begin_rare, mask);
}

// Later steps cannot rely on values of steps that may be left out, so they record them again.
void Recorder::end_rare() {
  record(Step{Primitive::end_rare, {-1, -1, -1}, 0});
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second > rare_from_ && entry.first.primitive != Primitive::constant;
  });
  rare_from_ = -1;
}

Body Recorder::take() {
  const std::vector<bool> keep = needed(body_.steps);
  std::vector<int> place(body_.steps.size(), -1);
  Body body{{}, std::move(body_.tables)};
  for (size_t i = 0; i < body_.steps.size(); ++i) {
    if (!keep[i]) continue;
    Step step = body_.steps[i];
    for (int& operand : step.operand)
      if (operand >= 0) operand = place[static_cast<size_t>(operand)];
    place[i] = static_cast<int>(body.steps.size());
    body.steps.push_back(step);
  }
  body_ = {};
  known_.clear();
  return body;
}

Recording::Recording(Recorder& recorder) {
  assert(!recording && "a thread records one body at a time");
  recording = &recorder;
}
Recording::~Recording() { recording = nullptr; }
Recorder& Recording::current() { return *recording; }

}  // namespace rung::generated

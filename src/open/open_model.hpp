// Opens a path: a model directory becomes a subject to climb or build, a plan file (*.rung) a plan to run.
// All ways into the library go through here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "open/options.hpp"
#include "open/subject.hpp"
#include "plan/plan_set.hpp"
#include "session/session.hpp"

namespace rung {

struct Opened {
  const Target* target = nullptr;
  std::optional<Subject> subject;     // of a directory
  std::optional<PlanSet> plans;       // of a plan file
  std::shared_ptr<const Plan> plan;   // of a plan file: the plan for the options' shapes; null: they leave it open
  NamedTensors given;                 // the options' inputs that are not frozen
  std::vector<NamedTensors> further;  // of OpenOptions::further_inputs
};

bool is_plan_file(const std::string& path);

// Errors: a number of threads that no team has, options that were decided when a plan was built, shapes that no plan of
// a file serves, a frozen input without a value, a shape that contradicts a value, further sets of inputs for a plan
// (usage); no such device; the errors
// of import_model() and load_plans(); inputs that do not fit, or, for a plan file, another kind of device or another
// number of threads than it was built for (mismatch).
Result<Opened> open_model(const OpenOptions& options);

// Opens the device that is asked for; none: the processor. Errors: those of open_target().
Result<const Target*> target_for(const std::optional<DeviceWord>& asked);

// Opens a session over the plan, with a team of the plan's number of threads where the processor runs it.
Result<Session> open_session(std::shared_ptr<const Plan> plan, SessionOptions options = {});

}  // namespace rung

// Opens what a path names: a model directory becomes a subject to climb or build, a plan file (*.rung) a plan to run.
// All ways into the library go through here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "ladder/subject.hpp"
#include "session/session.hpp"

namespace rung {

struct OpenOptions {
  std::string device;    // as open_target() takes it; empty: what a plan was built for, the processor for a directory
  int threads = 0;       // of the processor (a GPU takes none); 0: as a plan was built for, or as there are cores
  ImportOptions import;  // of a directory
};

struct OpenedModel {
  const Target* target = nullptr;
  std::optional<Subject> subject;    // of a directory; nothing frozen, no reference
  std::shared_ptr<const Plan> plan;  // of a plan file
};

bool is_plan_file(const std::string& path);

// Errors: a word that is no device and a number of threads that no team has (usage), no such device; those of
// import_model() and load_plan(). Of a plan file also (mismatch): another kind of device than it was built for, another
// number of threads, shapes (which were decided when it was built).
Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options = {});

// Of a plan for the processor, which `path` names: other threads than it was built for, unless that is 0, are a
// mismatch.
Status check_threads(const Plan& plan, const std::string& path, int threads);

// Threads of a plan to be built: those asked for, all cores of this process where that is 0; none for a GPU.
int threads_for(const Target& target, int asked_for);
// The plan of a recipe, with what the model says of its inputs.
Result<std::shared_ptr<const Plan>> build_subject(const Subject& subject, const Recipe& recipe, const Target& target);
// A session over the plan, with a team of the plan's number of threads where the processor runs it.
Result<Session> open_session(std::shared_ptr<const Plan> plan, SessionOptions options = {});

}  // namespace rung

// The objects behind the C interface's handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "api/handle_table.hpp"
#include "api/text_inputs.hpp"
#include "device/gpu/gpu.hpp"
#include "session/set_session.hpp"

namespace rung {

// Opened plans, with the data that the ports' pointers refer to. Sessions hold it too.
struct OpenModel {
  explicit OpenModel(PlanSet of) : plans(std::move(of)) {}
  PlanSet plans;
  rung_device device{RUNG_CPU, 0};
  std::vector<std::shared_ptr<gpu::Block>> weights;  // on a GPU: they stay between sessions
  std::vector<rung_port> inputs, outputs;            // in the first plan's order; they point into it
  std::unique_ptr<const TextEncoder> texts;
};

// Callers hold a rung_model* and its like, which are never dereferenced: those structs have no definition.
struct OpenSession {
  std::shared_ptr<const OpenModel> model;
  SetSession session;
};
struct OpenTensors {
  std::vector<std::pair<std::string, Tensor>> all;
  int64_t tokens = 0, kept = 0;  // of the text that they were made from
};
struct OpenClimb;

using Models = HandleTable<rung_model, const std::shared_ptr<const OpenModel>>;
using Sessions = HandleTable<rung_session, OpenSession>;
using TensorSets = HandleTable<rung_tensors, OpenTensors>;
using Climbs = HandleTable<rung_climb, OpenClimb>;

// Returns the one table of its kind. It is never destroyed: threads may be in a call when the process ends.
template <class Table>
Table& table() {
  static Table& all = *new Table;
  return all;
}

// Checks that a handle is open. Errors: RUNG_USAGE, NULL or a closed handle.
template <class Use>
Status want_open(const Use& use, const char* name) {
  return use ? Status{} : wrong_usage("'{}' is closed, or was never opened", name);
}

Result<rung_model*> handle_of(PlanSet plans);

}  // namespace rung

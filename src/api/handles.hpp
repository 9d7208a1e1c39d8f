// What stands behind the C interface's handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "device/gpu/gpu.hpp"
#include "session/session.hpp"

namespace rung {

// A plan that was opened, with what the ports' pointers refer to. Sessions hold it too.
struct OpenModel {
  std::shared_ptr<const Plan> plan;
  rung_device device{RUNG_CPU, 0};
  std::vector<std::shared_ptr<gpu::Block>> weights;  // on a GPU: they stay between sessions
  std::vector<rung_port> inputs, outputs;            // in the plan's order; they point into the plan
};

Result<std::shared_ptr<const OpenModel>> open_model_of(std::shared_ptr<const Plan> plan);

}  // namespace rung

struct rung_model {
  std::shared_ptr<const rung::OpenModel> open;
};

struct rung_session {
  std::shared_ptr<const rung::OpenModel> model;
  rung::Session session;
};

struct rung_tensors {
  std::vector<std::pair<std::string, rung::Tensor>> all;
};

// Time and floor of each part of the model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/result.hpp"
#include "session/session.hpp"

namespace rung {

// Names the stage of every op (those of the session's plan, in order) and sums up the ops' times, in the order that the
// model names the stages, the rest last; stages without a launch are left out. Errors: the device failed.
Result<std::vector<StageTime>> time_stages(Session& session, std::vector<OpTime>& ops);

}  // namespace rung

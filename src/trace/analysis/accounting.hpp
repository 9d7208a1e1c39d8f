// Where the time of the wall went.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

// Wants `analysis.steps` and `analysis.launches`; leaves in `analysis.work` what began in a step.
void account(Analysis& analysis, DeviceWork device);

}  // namespace rung::trace

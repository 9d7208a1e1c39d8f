// Accounts for the time of the wall.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

// Needs `analysis.steps` and `analysis.launches`; leaves the work that began in a step in `analysis.work`.
void account(Analysis& analysis, DeviceWork device);

}  // namespace rung::trace

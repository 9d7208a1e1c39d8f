// Where the time of the wall went.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "advise/analysis/device_work.hpp"

namespace rung::advise {

// Wants `analysis.steps`; leaves in `analysis.work` what began within the wall.
void account(Analysis& analysis, DeviceWork device);

}  // namespace rung::advise

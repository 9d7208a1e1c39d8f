// The step that repeats: on the host first, then on the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "advise/analysis/device_work.hpp"

namespace rung::advise {

// What the host calls steps: spans in order, apart, of its time.
Steps host_steps(const Recording& recording, const std::vector<uint32_t>& around, const DeviceWork& device);

// When they began and ended for the device, which may be late: see Steps.
void place_on_device(std::vector<Span>& spans, const Recording& recording, const DeviceWork& device);

}  // namespace rung::advise

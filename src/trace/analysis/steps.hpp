// Finds the step that repeats: on the host first, then on the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

// Returns the host's spans of steps, in order and apart. Leaves out those without launches.
Steps host_steps(const Recording& recording, const std::vector<uint32_t>& around, const DeviceWork& device);

// Sets the steps' starts and ends on the device, which may be late: see Steps.
void place_on_device(Steps& steps, const Recording& recording, const DeviceWork& device);

// Returns the index of the step with the median length; of an even number, the lower middle one.
size_t median_of(const std::vector<Span>& steps);

// Sets steps of other lengths apart: a first one that loads libraries, one that was cut off.
void set_outliers_apart(Steps& steps);

}  // namespace rung::trace

// The step that repeats: found on the host, then placed on the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/analysis/device_work.hpp"

namespace rung::trace {

// Spans that the host calls steps, in order, apart, of its time. Those in which nothing was launched are left out.
Steps host_steps(const Recording& recording, const std::vector<uint32_t>& around, const DeviceWork& device);

// When they began and ended for the device, which may be late: see Steps.
void place_on_device(Steps& steps, const Recording& recording, const DeviceWork& device);

// Which of the steps has the median length; of an even number the lower one.
size_t median_of(const std::vector<Span>& steps);

// Steps of other lengths are no steps of this kind: a first one that loads libraries, one that was cut off.
void set_outliers_apart(Steps& steps);

}  // namespace rung::trace

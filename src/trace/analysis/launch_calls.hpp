// Recognises a runtime's calls that launch kernels, and counts launches whose work is recorded or lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "trace/analysis/device_work.hpp"

namespace rung::trace {

bool launches_graph(std::string_view call);   // cudaGraphLaunch, hipGraphLaunch, cuGraphLaunch
bool launches_kernel(std::string_view call);  // also cooperative, driver and module launches; no graph

// Counts the steps' launches, or all launches without steps. steps.host and the device's work may be empty.
Launches count_launches(const Recording& recording, const Steps& steps, const DeviceWork& device);

}  // namespace rung::trace

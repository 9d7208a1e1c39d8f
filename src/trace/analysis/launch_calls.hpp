// Calls of a runtime that launch kernels, and what became of what they launched.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "trace/analysis/device_work.hpp"

namespace rung::trace {

bool launches_graph(std::string_view call);   // cudaGraphLaunch, hipGraphLaunch, cuGraphLaunch
bool launches_kernel(std::string_view call);  // also a cooperative one, by a driver, by a module; not a graph

// Counts the steps' launches, or the whole recording's without steps. It needs neither steps.host nor a device's work.
Launches count_launches(const Recording& recording, const Steps& steps, const DeviceWork& device);

}  // namespace rung::trace

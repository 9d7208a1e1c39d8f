// Facts of a machine: processor, kernel, drivers, libraries with versions, GPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "doctor/snapshot.hpp"

namespace rung::doctor {

// Returns names and values; facts that the machine does not tell are left out.
std::vector<std::pair<std::string, std::string>> facts_of(const Snapshot& machine);

}  // namespace rung::doctor

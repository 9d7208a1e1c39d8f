// Presents the counts of an emulated GPU's execution, for people and as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "amdgpu/run/count.hpp"

namespace rung::tasks {

nlohmann::json to_json(const amdgpu::Counts& counts);
// Returns one line each on instructions by class, global memory and LDS.
std::vector<std::string> count_lines(const amdgpu::Counts& counts);

}  // namespace rung::tasks

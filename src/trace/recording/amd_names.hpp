// Converts words of AMD's tracers into the form of other profilers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

namespace rung::trace {

// Returns "k(float*)" for "k(float*) [clone .kd]", "k.kd" and "k(float*) (.kd)", the loader's names of descriptors.
std::string_view kernel_name(std::string_view descriptor);
// Returns 4 for "4", "Agent 4" and "GPU 4".
std::optional<int64_t> agent_number(std::string_view text);

}  // namespace rung::trace

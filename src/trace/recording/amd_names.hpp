// Words of AMD's tracers in the form that other profilers give them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

namespace rung::trace {

// "k(float*)" of "k(float*) [clone .kd]", "k.kd" and "k(float*) (.kd)": what the loader calls a kernel's descriptor.
std::string_view kernel_name(std::string_view descriptor);
// 4 of "4", "Agent 4" and "GPU 4".
std::optional<int64_t> agent_number(std::string_view text);

}  // namespace rung::trace

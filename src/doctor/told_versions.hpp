// Versions of frameworks and names of GPUs, as PyTorch's collect_env lists them: facts that no file of a system has.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::doctor {

// The path under which a snapshot has them.
inline constexpr std::string_view kVersions = "programs/collect_env";

// "PyTorch version: 2.9.0+cu128" as {"PyTorch", "2.9.0+cu128"}: known names alone, with the words that captures keep.
std::vector<std::pair<std::string, std::string>> read_versions(std::string_view text);
// In the same form: the lines of those names and no others.
std::string written_versions(std::string_view text);

}  // namespace rung::doctor

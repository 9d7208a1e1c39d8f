// Versions of frameworks and names of GPUs, as PyTorch's collect_env lists them: facts that no file of a system has.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::doctor {

// The path of the versions in a snapshot.
inline constexpr std::string_view kVersions = "programs/collect_env";

// Reads "PyTorch version: 2.9.0+cu128" as {"PyTorch", "2.9.0"}: known names only, with the words that captures keep.
std::vector<std::pair<std::string, std::string>> read_versions(std::string_view text);
// Writes the same form: the lines of those names only.
std::string written_versions(std::string_view text);

}  // namespace rung::doctor

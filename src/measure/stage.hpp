// The stages of a model, which are its parts known by name, and the stage that an op belongs to.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

struct Stage {
  std::string name;
  std::vector<std::string> scopes;  // ir/scope.hpp
};

inline constexpr std::string_view kRest = "rest";

// Returns the first stage with a scope that covers the label, else kRest; without any stages, the label's first word.
std::string_view stage_of(std::span<const Stage> stages, std::string_view label);

}  // namespace rung

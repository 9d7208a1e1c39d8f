// Finds a plan's inputs, outputs and frozen inputs by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

namespace rung {

// Returns null if the list has no entry of that name.
template <class Named>
const Named* find_named(const std::vector<Named>& list, std::string_view name) {
  auto it = std::find_if(list.begin(), list.end(), [&](const Named& entry) { return entry.name == name; });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace rung

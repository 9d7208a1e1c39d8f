// The names of a map, for errors that say what there is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung::tasks {

// "a, b"
template <class Map>
std::string names_in(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace rung::tasks

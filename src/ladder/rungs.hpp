// THE list of rungs, in the order they are climbed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "plan/recipe.hpp"

namespace rung {

struct Rung {
  std::string_view name, what;
  bool opt_in = false;            // only on request
  void (*apply)(Recipe& recipe);  // turns it on; kernel choices are filled in afterwards
  void (*remove)(Recipe& recipe);
};

std::span<const Rung> ladder();
const Rung* rung_named(std::string_view name);  // null if there is none

}  // namespace rung

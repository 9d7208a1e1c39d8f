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

// What runs without a climb: every rung that is not opt-in, and the rung "precision" where bf16 is asked for.
Recipe default_recipe(int threads, DType precision = DType::f32);

}  // namespace rung

// THE list of rungs, in the order they are climbed: what each does to a recipe, and how a climb tries it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/recipe.hpp"

namespace rung {

class Session;

enum class How : uint8_t {
  edit,    // the recipe is changed, and judged as one step
  refine,  // kernel choices are changed one at a time, and each is judged on the whole model
};

struct Rung {
  std::string_view name, what;
  bool passes = true;                              // are there passes of its name?
  void (*set)(Recipe& recipe, bool on) = nullptr;  // the rest of what it is; choices are filled in afterwards
  How how = How::edit;
  bool opt_in = false;                                    // only on request
  std::string_view needs = {};                            // the rung whose choices it refines: they go with that one
  std::vector<std::string> (*notes)(Session&) = nullptr;  // for its receipt, beside those of its passes

  void apply(Recipe& recipe) const;
  void remove(Recipe& recipe) const;
};

std::span<const Rung> ladder();
const Rung* rung_named(std::string_view name);  // null if there is none

// What runs without a climb: every rung that is not opt-in, and the rung "precision" where bf16 is asked for.
Recipe default_recipe(int threads, DType precision = DType::f32);

}  // namespace rung

// THE list of rungs, in the order they are climbed: the change that each makes to a recipe, and how a climb tries it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/category.hpp"
#include "plan/recipe.hpp"

namespace rung {

class Session;

enum class How : uint8_t {
  edit,    // the recipe is changed, and judged as one step
  refine,  // kernel choices are changed one at a time, and each is judged on the whole model
};

constexpr unsigned bits_of(auto... categories) { return ((1U << static_cast<unsigned>(categories)) | ... | 0U); }

struct Rung {
  std::string_view name, what;
  bool passes = true;                              // there are passes of its name
  void (*set)(Recipe& recipe, bool on) = nullptr;  // sets the rest of it; choices are filled in afterwards
  How how = How::edit;
  bool opt_in = false;                                    // only on request
  std::string_view needs = {};                            // the rung whose choices it refines: they go with that one
  std::vector<std::string> (*notes)(Session&) = nullptr;  // for its receipt, beside its passes' notes
  unsigned touches = 0;                                   // bits of the categories whose time it may save
  double reach = 1;                                       // share that it may save of their time beyond the floors

  void apply(Recipe& recipe) const;
  void remove(Recipe& recipe) const;
};

std::span<const Rung> ladder();
const Rung* rung_named(std::string_view name);  // null if there is none

// Returns the start of a climb: one kernel per op as its author wrote it, in the precision that is asked for.
Recipe baseline_recipe(int threads, Precision precision = {});

}  // namespace rung

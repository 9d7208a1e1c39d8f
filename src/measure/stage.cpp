// Finds the stage of a label.
// SPDX-License-Identifier: Apache-2.0
#include "measure/stage.hpp"

#include "ir/scope.hpp"

namespace rung {

std::string_view stage_of(std::span<const Stage> stages, std::string_view label) {
  for (const Stage& stage : stages)
    for (const std::string& scope : stage.scopes)
      if (covers(scope, label)) return stage.name;
  if (!stages.empty() || label.empty()) return kRest;
  return take_word(label);
}

}  // namespace rung

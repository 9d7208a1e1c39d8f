// Opens the two sides of a comparison alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "tasks/compare.hpp"
#include "tasks/shared_inputs.hpp"

namespace rung::tasks {

struct OpenedSide {
  CompareSide asked;
  OpenOptions model;  // the task's options that apply to this side
  Opened opened;
  std::shared_ptr<const Plan> plan;  // null: another tool makes it
  Ports ports;
};

// Opens A and B. A directory beside a plan is opened for the plan's device and shapes unless the options give others.
// Makes plans if no side has a tool. Errors: those of compare().
Result<std::array<OpenedSide, 2>> open_sides(const CompareTask& task);

// Returns the dtype in which it computes, as far as known before it runs.
DType precision_of(const OpenedSide& side);

// Returns the command line with which a tool opens the side: the path, and all its options except inputs, whose shapes
// are given instead. Writes its recipe into `recipe_file`. Errors: that file cannot be written.
Result<std::vector<std::string>> arguments_of(const OpenedSide& side, const std::string& recipe_file);

}  // namespace rung::tasks

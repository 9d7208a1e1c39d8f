// The two sides of a comparison, opened alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "tasks/compare.hpp"
#include "tasks/shared_inputs.hpp"

namespace rung::tasks {

struct OpenedSide {
  CompareSide asked;
  OpenOptions model;  // the task's, as far as they are for this side
  Opened opened;
  std::shared_ptr<const Plan> plan;  // null: another tool makes it
  Ports ports;
};

// A, B. A directory beside a plan is opened for the plan's device and shapes where the options say nothing of them.
// Plans are made where no side has a tool. Errors: as compare().
Result<std::array<OpenedSide, 2>> open_sides(const CompareTask& task);

// The dtype that it computes in, as far as that is known before it runs.
DType precision_of(const OpenedSide& side);

// The command line of a tool that opens the side: the path, and all that was asked of it but inputs, whose shapes say
// its own. Its recipe is written into `recipe_file`. Errors: that cannot be written.
Result<std::vector<std::string>> arguments_of(const OpenedSide& side, const std::string& recipe_file);

}  // namespace rung::tasks

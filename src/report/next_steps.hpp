// Suggests next steps after a climb: each only if this climb gives a reason for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"

namespace rung::report {

struct NextStep {
  std::string title, why;
  std::vector<std::string> commands;  // shell commands, or a few lines of code; each can be copied as it is
};

// Suggests how to run the plan if it is verified, or else how to find the cause; the cheaper precision, if it was shown
// to be faster; other thread counts, if none was tried; other lengths, for a model of texts; a longer budget, if there
// was no time for some changes.
std::vector<NextStep> next_steps(const ClimbResult& result);

}  // namespace rung::report

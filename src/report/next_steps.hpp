// Next steps after a climb: each only where this climb gives a reason for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"

namespace rung::report {

struct NextStep {
  std::string title, why;
  std::vector<std::string> commands;  // of a shell, or a few lines of a language; each to be copied as it stands
};

// How to run the plan, if its answers are right, or how to find what breaks them; the cheaper precision, if it was
// shown to be faster; other numbers of threads, if none was tried; other lengths, of a model of texts; a longer budget,
// if there was no time for some changes.
std::vector<NextStep> next_steps(const ClimbResult& result);

}  // namespace rung::report

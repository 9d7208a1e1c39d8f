// Prints the ladder as a table on a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung {

// Returns aligned columns: rung, verdict, ms, x before, 95 % interval, kernels, rel. L2, reason; then the headline.
// Wraps reasons to `width` columns. `color` adds escape sequences: pass false when the output is not a terminal.
std::string ladder_table(const ClimbResult& result, bool color, int width = 120);

}  // namespace rung

// Times on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"

namespace rung::cli {

// Seconds of "60s", "5m", "1500ms" or "60". Errors (usage): no time, or less than a command needs.
Result<double> parse_budget(const std::string& text);

}  // namespace rung::cli

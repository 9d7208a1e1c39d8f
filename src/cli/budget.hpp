// Times on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung::cli {

// Seconds of "60s", "5m", "1500ms" or "60". Errors (usage), which name the flag: no time.
Result<double> parse_time(std::string_view flag, const std::string& text);
// The same of --budget. Errors (usage): less than a command needs, too.
Result<double> parse_budget(const std::string& text);

}  // namespace rung::cli

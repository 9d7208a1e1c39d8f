// Times on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung::cli {

// Returns the seconds of "60s", "5m", "1500ms" or "60". Errors (usage) name the flag: the text is no time.
Result<double> parse_time(std::string_view flag, const std::string& text);
// Does the same for --budget. Errors (usage): also less than a command needs.
Result<double> parse_budget(const std::string& text);

}  // namespace rung::cli

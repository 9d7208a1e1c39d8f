// --wait-quiet: begins measuring once the machine is quiet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "cli/options.hpp"

namespace rung::cli {

// Adds the option, for commands that measure.
Option add_wait_quiet(CLI::App& command, std::string& target);

// Waits at most as long as the option's text says, not at all if it is empty, and logs whether the machine became quiet
// or the time ran out. Returns the seconds waited. Errors (usage): the text is no time.
Result<double> wait_quiet(const std::string& text);

}  // namespace rung::cli

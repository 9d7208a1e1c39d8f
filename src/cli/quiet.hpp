// --wait-quiet: measuring begins once the machine is quiet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "cli/options.hpp"

namespace rung::cli {

// The option, for commands that measure.
Option add_wait_quiet(CLI::App& command, std::string& target);

// Waits as long as the option's text says at most, and says on the log which it was: quiet, or over. Empty: nothing is
// waited for. Seconds waited. Errors (usage): no time.
Result<double> wait_quiet(const std::string& text);

}  // namespace rung::cli

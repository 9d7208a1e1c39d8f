// Waits by the rule for disturbed measurements.
// SPDX-License-Identifier: Apache-2.0
#include "cli/quiet.hpp"

#include "base/log.hpp"
#include "cli/budget.hpp"
#include "measure/disturbance.hpp"

namespace rung::cli {

Option add_wait_quiet(CLI::App& command, std::string& target) { return add(command, "wait-quiet", target); }

Result<double> wait_quiet(const std::string& text) {
  if (text.empty()) return 0.0;
  RUNG_TRY(const double most_s, parse_time("wait-quiet", text));
  const QuietWait wait = wait_until_quiet(most_s);
  log(0, "{}", wait.text());
  return wait.waited_s;
}

}  // namespace rung::cli

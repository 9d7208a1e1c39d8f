// Reads a number with its unit.
// SPDX-License-Identifier: Apache-2.0
#include "cli/budget.hpp"

#include <charconv>
#include <cmath>

#include "ladder/budget.hpp"

namespace rung::cli {

Result<double> parse_time(std::string_view flag, const std::string& text) {
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "ms" ? 1e-3 : 0;
  if (code != std::errc() || scale == 0 || !(value > 0) || !std::isfinite(value))
    return wrong_usage("--{}: got '{}', wanted a time such as 60s or 5m", flag, text);
  return value * scale;
}

Result<double> parse_budget(const std::string& text) {
  RUNG_TRY(const double seconds, parse_time("budget", text));
  if (seconds < kLeastBudget) return wrong_usage("--budget: got '{}', wanted at least {}s", text, kLeastBudget);
  return seconds;
}

}  // namespace rung::cli

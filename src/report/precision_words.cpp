// Names plans of a search.
// SPDX-License-Identifier: Apache-2.0
#include "report/precision_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/format.hpp"
#include "report/speedup_lines.hpp"

namespace rung::report {

std::string whole_name(const PrecisionReport& report, size_t i) {
  if (!report.wholes[i].name.empty()) return report.wholes[i].name;
  size_t number = 0;
  for (size_t other = 0; other <= i; ++other) number += report.wholes[other].name.empty();
  return fmt::format("mixture {}", number);
}

std::string whole_verdict(const WholeReport& whole) {
  if (whole.chosen) return "chosen";
  return whole.meets_goal ? "within the stated error" : "beyond it";
}

std::string precision_line(const ClimbResult& result) {
  const PrecisionReport& search = result.precision_search;
  if (!search.searched()) return "";
  const auto chosen = std::ranges::find(search.wholes, true, &WholeReport::chosen);
  if (chosen == search.wholes.end())
    return fmt::format("no precision within the stated error was clearly faster; {} were tried",
                       counted(static_cast<long>(search.wholes.size()), "whole plan"));
  const auto index = static_cast<size_t>(chosen - search.wholes.begin());
  return fmt::format("within the stated error, of {}: {}, {} (rel. L2 error {}, cosine {})",
                     counted(static_cast<long>(search.wholes.size()), "whole plan"), whole_name(search, index),
                     claim_text(chosen->speedup), scientific(chosen->rel_l2), fixed(chosen->cosine, 6));
}

double start_ms(const PrecisionReport& report) {
  return report.wholes.empty() ? std::numeric_limits<double>::quiet_NaN() : report.wholes[0].speedup.before_ms;
}

}  // namespace rung::report

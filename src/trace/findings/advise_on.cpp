// Looks for every finding in the step of median length.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "trace/findings/all_findings.hpp"

namespace rung::trace {
namespace {

enum class RestsOn : uint8_t { idle, work };

struct FindingRow {
  std::optional<TraceFinding> (*find)(const Analysis&);
  RestsOn rests_on;
};

const std::vector<FindingRow>& all_findings() {
  static const std::vector<FindingRow> rows{
#define RUNG_FINDING(name, rests_on) {findings::name, RestsOn::rests_on},
#include "trace/findings/findings.inc"
#undef RUNG_FINDING
  };
  return rows;
}

}  // namespace

std::vector<TraceFinding> advise_on(const Analysis& analysis) {
  const Analysis step = median_step(analysis);
  std::vector<TraceFinding> found;
  for (const FindingRow& row : all_findings()) {
    if (row.rests_on == RestsOn::idle && analysis.launches.are_lost()) continue;
    if (std::optional<TraceFinding> finding = row.find(step)) found.push_back(std::move(*finding));
  }
  std::ranges::stable_sort(found, std::greater{}, &TraceFinding::bound_ms);
  return found;
}

}  // namespace rung::trace

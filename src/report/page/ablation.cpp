// Leave-one-out: shows how much slower the final plan gets without each rung.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

Scale scale_of(const std::vector<AblationRow>& rows) {
  double lo = 0.95, hi = 1.1;
  for (const AblationRow& row : rows)
    for (double v : {row.ci95.lo, row.ci95.hi, row.ratio})
      if (std::isfinite(v) && v > 0) lo = std::min(lo, v), hi = std::max(hi, v);
  return {lo, hi, 0, 100, true};  // by ratio: 2 x and 1/2 x are equally far from 1
}

Html row_markup(const AblationRow& row, const Scale& x) {
  bool clear = row.ci95.lo > 1;
  Strip strip(24);
  strip.bar(x(1), x(row.ratio), clear ? "gain" : "rest").whisker(x(row.ci95.lo), x(row.ci95.hi), "whisker");
  strip.line(x(1), "zero");
  return html(
      "<tr class='{}'><th scope='row' class='name'>{}</th><td class='chart'>{}</td><td class='number'>{} ×</td>"
      "<td class='number'>{}</td></tr>\n",
      clear ? "kept" : "unclear", row.name, strip.decoration(), ratio(row.ratio), interval_text(row.ci95));
}

}  // namespace

Html ablation(const ClimbResult& result) {
  if (result.ablation.empty()) return {};
  std::vector<AblationRow> rows = result.ablation;
  std::ranges::stable_sort(rows, [](const AblationRow& a, const AblationRow& b) {
    auto key = [](double v) { return std::isfinite(v) ? v : 0.0; };
    return key(a.ratio) > key(b.ratio);
  });
  Scale x = scale_of(rows);
  Html table = html(
      "<table class='bars'><thead><tr><th scope='col' class='name'>without</th><th class='chart'><span "
      "class='sr'>drawn</span></th>"
      "<th scope='col' class='number'>slower by</th><th scope='col' class='number'>95 % "
      "interval</th></tr></thead><tbody>\n{}"
      "</tbody></table>\n",
      each(rows, [&](const AblationRow& row) { return row_markup(row, x); }));
  return section("ablation", "What each rung is worth now",
                 "The final plan with one rung left out, over the final plan. Rungs overlap, so these do not multiply "
                 "to the whole "
                 "speed-up; a grey bar’s interval holds 1: no effect was shown.",
                 table);
}

}  // namespace rung::report

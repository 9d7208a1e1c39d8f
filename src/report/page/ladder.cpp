// The ladder as a waterfall inside a table: the time that each rung saved, and the rungs rejected.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/ladder_rows.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

struct Axis {
  Scale x;
  double floor_ms = 0;
  int decimals = 0;
  Clock clock = Clock::time;
};

// A rejected rung may be many times slower than all others: its bar is cut off, so as not to squeeze the rest.
Axis axis_of(const ClimbResult& result, const std::vector<LadderRow>& rows) {
  std::vector<double> times;
  double longest = 0, kept = 0;
  for (const LadderRow& row : rows) {
    double ms = std::isfinite(row.receipt.ms) ? row.receipt.ms : 0;
    times.push_back(ms);
    longest = std::max(longest, ms);
    if (row.receipt.accepted) kept = std::max(kept, ms);
  }
  return {Scale{0, kept > 0 ? std::min(longest, kept * 1.25) : longest}, result.floor_ms, decimals_for(times),
          clock_of(result.device)};
}

Html axis_strip(const Axis& axis) {
  Strip strip(18);
  for (double tick : linear_ticks(0, axis.x.max, 4)) strip.label(axis.x(tick), significant(tick, 2), "tick");
  return strip.decoration();
}

Html step(const LadderRow& row, const Axis& axis) {
  const Receipt& r = row.receipt;
  const Scale& x = axis.x;
  Strip strip(26);
  for (double tick : linear_ticks(0, x.max, 4)) strip.line(x(tick), "grid");
  if (row.baseline) {
    strip.bar(0, x(r.ms), "base");
  } else if (r.accepted) {
    strip.bar(0, x(std::min(r.ms, r.before_ms)), "rest")
        .bar(x(r.ms), x(r.before_ms), r.ms <= r.before_ms ? "gain" : "loss");
  } else {
    strip.bar(0, x(std::min(r.ms, r.before_ms)), "rest dim").bar(x(r.ms), x(r.before_ms), "refused");
  }
  if (!row.baseline && is_telling(r.ci95))
    strip.whisker(x(r.before_ms / r.ci95.hi), x(r.before_ms / r.ci95.lo), "whisker");
  if (axis.floor_ms > 0) strip.crossing(x(axis.floor_ms), "floor");
  return strip.decoration();
}

Html row_markup(const LadderRow& row, const Axis& axis) {
  const Receipt& r = row.receipt;
  const char* css = row.baseline ? "baseline" : r.accepted ? "kept" : "rejected";
  Html out = html("<tr role='row' class='{}'><th scope='row' role='rowheader' class='name'>{}", css, row.name);
  if (!row.baseline) out += html(" <span class='tag'>{}</span>", row.verdict);
  out += html("</th><td role='cell' class='chart'>{}<span class='why'>{}</span></td>", step(row, axis), r.reason);
  out += html("<td role='cell' class='number ms'>{}<span class='phone'> {}</span></td>", fixed(r.ms, axis.decimals),
              ms_word(axis.clock));
  if (row.baseline) {
    out += Html{"<td role='cell' class='number factor'></td><td role='cell' class='number interval'></td>"};
  } else {
    out += html("<td role='cell' class='number factor'>{} ×</td><td role='cell' class='number interval'>{}</td>",
                ratio(r.ratio), interval_text(r.ci95));
  }
  return out + html("<td role='cell' class='number kernels'>{}</td><td role='cell' class='number error'>{}</td></tr>\n",
                    count(r.kernels), scientific(r.rel_l2));
}

Html heading(const Axis& axis) {
  return html(
      "<thead role='rowgroup'><tr role='row'><th scope='col' role='columnheader' class='name'>rung</th>"
      "<th scope='col' role='columnheader' class='chart'>{}<span class='sr'>latency in {}, drawn</span></th>"
      "<th scope='col' role='columnheader' class='number'>{}</th>"
      "<th scope='col' role='columnheader' class='number'>speed-up</th>"
      "<th scope='col' role='columnheader' class='number interval'>95 % interval</th>"
      "<th scope='col' role='columnheader' class='number kernels'>launches</th>"
      "<th scope='col' role='columnheader' class='number error'>rel. L2</th></tr></thead>",
      axis_strip(axis), axis.clock == Clock::time ? "milliseconds" : ms_word(axis.clock), ms_word(axis.clock));
}

// Lists the changes that there was no time for, in one line that opens.
Html never_tried(const std::vector<LadderRow>& rows) {
  if (rows.empty()) return {};
  return html("<details class='list untried'><summary>{} not tried</summary><ul class='notes'>{}</ul></details>\n",
              counted(static_cast<long>(rows.size()), "change"), each(rows, [](const LadderRow& row) {
                return html("<li><b>{}</b>: {}</li>", row.name, row.receipt.reason);
              }));
}

}  // namespace

Html ladder(const ClimbResult& result) {
  std::vector<LadderRow> rows = ladder_rows(result);
  const auto untried =
      std::stable_partition(rows.begin(), rows.end(), [](const LadderRow& row) { return was_tried(row.receipt); });
  const std::vector<LadderRow> never(untried, rows.end());
  rows.erase(untried, rows.end());
  Axis axis = axis_of(result, rows);
  Html table = html("<table class='ladder' role='table'>{}<tbody role='rowgroup'>\n{}</tbody></table>", heading(axis),
                    each(rows, [&](const LadderRow& row) { return row_markup(row, axis); }));
  Html key{
      "<p class='caption'><span class='key gain'></span>time taken off <span class='key rest'></span>time that stays "
      "<span class='key refused'></span>a change that was not kept"};
  if (axis.floor_ms > 0)
    key += html(" <span class='key floorline'></span>this machine’s floor, {}", duration_ms(axis.floor_ms, axis.clock));
  return section("ladder", "The ladder",
                 fmt::format("Latency in {}. Each rung starts from the best plan so far; it is kept only if "
                             "interleaved runs show it faster, "
                             "the whole 95 % interval (whiskers) on the faster side, and its results stay right.",
                             ms_word(axis.clock)),
                 table + key + Html{"</p>\n"} + never_tried(never));
}

}  // namespace rung::report

// Shows how latency spreads: median and tail, baseline and final, warm and cold.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

struct Row {
  const char* name;
  const Latency* latency;
  const char* css;
};

Scale scale_of(const std::vector<Row>& rows) {
  double lo = INFINITY, hi = 0;
  for (const Row& row : rows)
    for (double v : {row.latency->min_ms, row.latency->median_ms, row.latency->p99_ms})
      if (std::isfinite(v) && v > 0) lo = std::min(lo, v), hi = std::max(hi, v);
  return {lo * 0.95, hi * 1.05, 0, 100, true};
}

Html spread(const Row& row, const Scale& x) {
  const Latency& l = *row.latency;
  Strip strip(24);
  for (double tick : log_ticks(x.min, x.max)) strip.line(x(tick), "grid");
  strip.whisker(x(l.min_ms), x(l.p99_ms), "whisker").bar(x(l.min_ms), x(l.p90_ms), row.css);
  return strip.mark(x(l.median_ms), "median").decoration();
}

Html row_markup(const Row& row, const Scale& x, int decimals) {
  const Latency& l = *row.latency;
  Html out = html("<tr><th scope='row' class='name'>{}</th><td class='chart wide'>{}</td>", row.name, spread(row, x));
  for (double v : {l.min_ms, l.median_ms, l.p90_ms, l.p99_ms})
    out += html("<td class='number'>{}</td>", fixed(v, decimals));
  return out + html(
                   "<td class='number wide'>{}</td><td class='number wide'>{} ×</td><td class='number "
                   "wide'>{}</td></tr>\n",
                   interval_text(l, decimals), fixed(l.p99_ms / l.median_ms, 2), count(l.runs));
}

Html axis(const Scale& x) {
  Strip strip(18);
  for (double tick : log_ticks(x.min, x.max)) strip.label(x(tick), tick_text(tick), "tick");
  return strip.decoration();
}

}  // namespace

Html latency(const ClimbResult& result) {
  std::vector<Row> rows{{"baseline", &result.baseline, "rest"},
                        {"final plan", &result.final_latency, "gain"},
                        {"final, cold weights", &result.cold, "gain"}};
  std::erase_if(rows, [](const Row& row) { return row.latency->runs <= 0; });
  if (rows.empty()) return {};
  std::vector<double> minima;
  for (const Row& row : rows) minima.push_back(row.latency->min_ms);
  Scale x = scale_of(rows);
  int decimals = decimals_for(minima);
  Html table = html(
      "<table class='bars'><thead><tr><th scope='col' class='name'>{}</th><th class='chart wide'>{}</th>"
      "<th scope='col' class='number'>least</th><th scope='col' class='number'>median</th><th scope='col' "
      "class='number'>p90</th>"
      "<th scope='col' class='number'>p99</th><th scope='col' class='number wide'>95 % interval of median</th>"
      "<th scope='col' class='number wide'>p99 / median</th><th scope='col' class='number wide'>runs</th></tr></thead>"
      "<tbody>\n{}</tbody></table>\n",
      ms_word(clock_of(result.device)), axis(x),
      each(rows, [&](const Row& row) { return row_markup(row, x, decimals); }));
  return section("latency", "How steady it is",
                 "The line runs from the fastest run to p99, the bar to p90, the upright is the median; the axis goes "
                 "by ratio, so "
                 "equal lengths are equal jitter. Cold: weights are out of the cache before every run.",
                 table);
}

}  // namespace rung::report

// Every problem of the final plan against its floor, longest first.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/format.hpp"
#include "report/ladder_rows.hpp"
#include "report/op_groups.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

constexpr size_t kMostGroups = 150;    // rows of the table; the rest is one row
constexpr size_t kMostLaunches = 400;  // in the list in order; report.json holds them all

std::string or_none(double value, int decimals) {
  return value > 0 ? decimals < 0 ? significant(value) : fixed(value, decimals) : std::string(kNone);
}

Html time_strip(const OpGroup& g, double longest) {
  Scale x{0, longest};
  std::string css(category_class(g.category));
  Strip strip(20);
  strip.bar(0, x(g.us), css + " pale").bar(0, x(std::min(g.floor_us, g.us)), css);
  return strip.decoration();
}

Html group_row(const OpGroup& g, double longest, double total) {
  Html times = g.count > 1 ? html("<b>{} ×</b> ", count(g.count)) : Html{};
  Html out = html("<tr><th scope='row' class='name'><span class='op'>{}</span><span class='problem'>{}{}</span></th>",
                  breakable(g.label), times, g.problem);
  out += html("<td class='chart wide'>{}</td>", time_strip(g, longest));
  auto number = [&](double key, const std::string& text, const char* css) {
    out += html("<td class='number {}' data-v='{:.6g}'>{}</td>", css, key, text);
  };
  double reached = g.us > 0 && g.floor_us > 0 ? g.floor_us / g.us : 0;
  number(g.us, fixed(g.us, 1), "");
  number(total > 0 ? g.us / total : 0, percent(total > 0 ? g.us / total : 0), "");
  number(g.floor_us, or_none(g.floor_us, 1), "wide");
  number(reached, reached > 1 ? ">100 %" : reached > 0 ? percent(reached) : std::string(kNone), "");
  number(g.gflops(), or_none(g.gflops(), -1), "wide");
  number(g.gbps(), or_none(g.gbps(), -1), "wide");
  return out + html("<td class='kernel wide'>{}</td></tr>\n", g.kernel);
}

Html group_table(const std::vector<OpGroup>& groups, Clock clock) {
  // The first group is the longest, except for a folded tail, whose bar is cut off so as not to squeeze the rest.
  double total = total_us(groups), longest = groups.front().us;
  Html head = html(
      "<thead><tr>{}<th scope='col' class='chart wide'><span class='key solid'></span>floor "
      "<span class='key paled'></span>time left</th>{}{}{}{}{}{}<th scope='col' class='kernel "
      "wide'>kernel</th></tr></thead>",
      sortable("op", "name"), sortable(us_word(clock)), sortable("share"),
      sortable(fmt::format("floor {}", us_word(clock)), "number wide"), sortable("of floor"),
      sortable("GFLOP/s", "number wide"), sortable("GB/s", "number wide"));
  return html("<table class='ops sortable'>{}<tbody>\n{}</tbody></table>\n", head,
              each(groups, [&](const OpGroup& g) { return group_row(g, longest, total); }));
}

Html launch_list(const std::vector<OpTime>& ops, Clock clock) {
  Html rows;
  for (size_t i = 0; i < ops.size() && i < kMostLaunches; ++i) {
    rows += html("<tr><td class='number'>{}</td><th scope='row' class='name'><span class='key {}'></span>{}</th>", i,
                 category_class(ops[i].category), ops[i].label);
    rows += html("<td class='kernel'>{}</td><td class='number'>{}</td><td class='number'>{}</td></tr>\n", ops[i].kernel,
                 fixed(ops[i].us, 1), percent(floor_reached(ops[i].us, ops[i].floor_us)));
  }
  Html more = ops.size() > kMostLaunches ? html("<p class='none'>and {} more, in report.json</p>",
                                                count(static_cast<long>(ops.size() - kMostLaunches)))
                                         : Html{};
  return html(
      "<details class='list'><summary>All {} launches, in the order they run</summary><table "
      "class='compact'><thead><tr>"
      "<th scope='col' class='number'>#</th><th scope='col' class='name'>op</th><th scope='col' "
      "class='kernel'>kernel</th>"
      "<th scope='col' class='number'>{}</th><th scope='col' class='number'>of "
      "floor</th></tr></thead><tbody>{}</tbody></table>"
      "{}</details>\n",
      count(static_cast<long>(ops.size())), us_word(clock), rows, more);
}

}  // namespace

Html ops(const ClimbResult& result) {
  std::vector<OpGroup> groups = group_ops(result.ops);
  if (groups.empty()) return {};
  if (clock_of(result.device) == Clock::instructions)  // without time there are no rates
    for (OpGroup& group : groups) group.flops = group.bytes = 0;
  bool repeated = groups.size() < result.ops.size();
  return section(
      "ops", "Every op against its floor",
      "Launches of the final plan, those that solve the same problem taken together, longest first. “Of floor” is the "
      "share of the fastest possible speed that was reached, by this machine’s measured peaks: 100 % leaves nothing.",
      html("<div class='scroll' tabindex='0'>{}</div>",
           group_table(fold_tail(groups, kMostGroups), clock_of(result.device))) +
          (repeated ? launch_list(result.ops, clock_of(result.device)) : Html{}));
}

}  // namespace rung::report

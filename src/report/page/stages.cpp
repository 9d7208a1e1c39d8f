// Shows each part of the model against its floor.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/format.hpp"
#include "report/ladder_rows.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

Html strip_of(const StageTime& s, double longest) {
  Scale x{0, longest};
  Strip strip(20);
  strip.bar(0, x(s.us), "c0 pale").bar(0, x(std::min(s.floor_us, s.us)), "c0");
  return strip.decoration();
}

Html row(const StageTime& s, const Html& chart, Clock clock) {
  return html(
      "<tr><th scope='row' class='name'>{}</th><td class='chart wide'>{}</td><td class='number'>{}</td><td "
      "class='number'>{}</td><td class='number'>{}</td><td class='number wide'>{}</td><td class='number "
      "wide'>{}</td></tr>\n",
      s.name, chart, duration_us(s.us, clock), duration_us(s.floor_us, clock),
      duration_us(time_left(s.us, s.floor_us), clock), percent(floor_reached(s.us, s.floor_us)), count(s.launches));
}

}  // namespace

Html stages(const ClimbResult& result) {
  if (result.stages.empty()) return {};
  double longest = 0;
  for (const StageTime& s : result.stages) longest = std::max(longest, s.us);
  Html head{
      "<thead><tr><th scope='col' class='name'>part</th><th scope='col' class='chart wide'><span class='key "
      "solid'></span>floor <span class='key paled'></span>time left</th><th scope='col' class='number'>time</th><th "
      "scope='col' class='number'>floor</th><th scope='col' class='number'>left</th><th scope='col' class='number "
      "wide'>of floor</th><th scope='col' class='number wide'>launches</th></tr></thead>"};
  Html rows =
      each(result.stages, [&](const StageTime& s) { return row(s, strip_of(s, longest), clock_of(result.device)); });
  return section("stages", "Time left by stage",
                 "Parts of the model as its author names them, and all of it as it was measured.",
                 html("<table class='bars'>{}<tbody>\n{}{}</tbody></table>\n", head, rows,
                      row(whole_run(result), {}, clock_of(result.device))));
}

}  // namespace rung::report

// Precision within a stated error: each part's forms, and time against error of every whole plan that was built.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "report/format.hpp"
#include "report/intervals.hpp"
#include "report/page/sections.hpp"
#include "report/precision_words.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

struct Frame {
  double width, height, left, right, top, bottom;
  const char* css;
};
constexpr Frame kWideFrame{1040, 380, 58, 24, 16, 44, "for-wide"}, kNarrowFrame{356, 330, 44, 10, 16, 42, "for-narrow"};

struct PlanMark {
  Point at;  // relative L2 error, ms
  double radius = 0;
  const char* css;
  std::string tip;
};

std::vector<PlanMark> marks_of(const ClimbResult& result) {
  const PrecisionReport& precision = result.precision_search;
  const Clock clock = clock_of(result.device);
  std::vector<PlanMark> marks;
  const double scale = start_ms(precision) / precision.start_us;
  for (const PredictedReport& predicted : precision.predicted)
    marks.push_back({{predicted.rel_l2, scale * predicted.us},
                     2,
                     "dot c6",
                     fmt::format("predicted: {}, error {}", duration_ms(scale * predicted.us, clock),
                                 scientific(predicted.rel_l2))});
  for (size_t i = 0; i < precision.wholes.size(); ++i) {
    const WholeReport& whole = precision.wholes[i];
    const char* css = whole.chosen ? "dot c2" : whole.best ? "dot c0" : "dot c5";
    marks.push_back({{whole.rel_l2, whole.speedup.after_ms},
                     whole.chosen ? 7.0 : 5.0,
                     css,
                     fmt::format("{}: {}, error {}", whole_name(precision, i),
                                 duration_ms(whole.speedup.after_ms, clock), scientific(whole.rel_l2))});
  }
  std::erase_if(marks, [](const PlanMark& mark) { return !(mark.at.x > 0) || !(mark.at.y > 0); });
  return marks;
}

struct ErrorAxes {
  Scale x, y;
};

ErrorAxes error_axes(const std::vector<PlanMark>& marks, double limit, const Frame& c) {
  double least = std::numeric_limits<double>::infinity(), most = 0, slowest = 0;
  for (const PlanMark& mark : marks) {
    least = std::min(least, mark.at.x), most = std::max(most, mark.at.x);
    slowest = std::max(slowest, mark.at.y);
  }
  if (limit > 0) least = std::min(least, limit), most = std::max(most, limit);
  return {{least / 1.5, most * 1.5, c.left, c.width - c.right, true}, {0, 1.1 * slowest, c.height - c.bottom, c.top}};
}

void draw_error_grid(Plot& plot, const ErrorAxes& a, const Frame& c, Clock clock) {
  for (double tick : log_ticks(a.x.min, a.x.max)) {
    plot.line({a.x(tick), c.top}, {a.x(tick), c.height - c.bottom}, "grid");
    plot.text({a.x(tick), c.height - c.bottom + 16}, tick_text(tick), "tick middle");
  }
  for (double tick : linear_ticks(a.y.min, a.y.max)) {
    plot.line({c.left, a.y(tick)}, {c.width - c.right, a.y(tick)}, "grid");
    plot.text({c.left - 6, a.y(tick) + 4}, tick_text(tick), "tick end");
  }
  plot.text({(c.left + c.width - c.right) / 2, c.height - 6},
            fmt::format("relative L2 error, by ratio; upwards: {}", ms_word(clock)), "axis middle");
}

Html draw_marks(const ClimbResult& result, const std::vector<PlanMark>& marks, const Frame& frame) {
  const double limit = result.precision_search.limit_rel_l2;
  const ErrorAxes axes = error_axes(marks, limit, frame);
  Plot plot(frame.width, frame.height);
  draw_error_grid(plot, axes, frame, clock_of(result.device));
  if (limit > 0) {
    plot.line({axes.x(limit), frame.top}, {axes.x(limit), frame.height - frame.bottom}, "floor");
    plot.text({axes.x(limit) - 6, frame.top + 10}, "stated", "roof-name end");
  }
  for (const PlanMark& mark : marks)
    plot.circle({axes.x(mark.at.x), axes.y(mark.at.y)}, mark.radius, mark.css, mark.tip);
  return plot.finish(frame.css, "Time of plans against their error; the table holds the same numbers.");
}

Html plot_of(const ClimbResult& result) {
  const std::vector<PlanMark> marks = marks_of(result);
  if (marks.empty()) return {};
  return draw_marks(result, marks, kWideFrame) + draw_marks(result, marks, kNarrowFrame) +
         Html{
             "<p class='caption'><span class='entry'><span class='key c2'></span>chosen</span> <span class='entry'>"
             "<span class='key c0'></span>no other plan beats it</span> <span class='entry'><span class='key "
             "c5'></span>beaten</span> <span class='entry'><span class='key c6'></span>predicted alone</span></p>\n"};
}

Html whole_row(const ClimbResult& result, size_t i) {
  const WholeReport& whole = result.precision_search.wholes[i];
  return html(
      "<tr class='{}'><th scope='row' class='name'>{}</th><td class='number'>{}</td><td class='number'>{} ×</td>"
      "<td class='number'>{}</td><td class='number'>{}</td><td class='number'>{}</td><td class='number'>{}</td>"
      "<td>{}</td><td class='kernel'>{}</td></tr>\n",
      whole.chosen ? "chosen" : "", whole_name(result.precision_search, i),
      duration_ms(whole.speedup.after_ms, clock_of(result.device)), ratio(whole.speedup.ratio),
      interval_text(whole.speedup.ci95), scientific(whole.rel_l2), fixed(whole.cosine, 6),
      scientific(whole.predicted_rel_l2), whole_verdict(whole), whole.recipe);
}

Html wholes_table(const ClimbResult& result) {
  Html rows;
  for (size_t i = 0; i < result.precision_search.wholes.size(); ++i) rows += whole_row(result, i);
  return html(
      "<div class='scroll'><table class='compact'><thead><tr><th scope='col' class='name'>plan</th>"
      "<th scope='col' class='number'>time</th><th scope='col' class='number'>faster by</th>"
      "<th scope='col' class='number'>95 % interval</th><th scope='col' class='number'>rel. L2</th>"
      "<th scope='col' class='number'>cosine</th><th scope='col' class='number'>predicted</th>"
      "<th scope='col'>verdict</th><th scope='col'>recipe</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

Html part_row(const PartReport& part, Clock clock) {
  Html forms = each(part.forms, [&](const FormReport& form) {
    return html("<span class='entry'>{}: {}, {}</span> ", form.name, duration_us(form.us, clock),
                scientific(form.rel_l2));
  });
  return html("<tr><th scope='row' class='name'>{}</th><td>{}</td><td><b>{}</b></td><td>{}</td></tr>\n",
              breakable(part.name), part.kind, part.chosen, forms);
}

Html parts_table(const ClimbResult& result) {
  const Clock clock = clock_of(result.device);
  return html(
      "<div class='scroll'><table class='compact'><thead><tr><th scope='col' class='name'>part</th><th scope='col'>of"
      "</th><th scope='col'>chosen</th><th scope='col'>forms: time of its launches, error of the answers if it alone "
      "is narrow</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      each(result.precision_search.parts, [&](const PartReport& part) { return part_row(part, clock); }));
}

}  // namespace

Html precision(const ClimbResult& result) {
  if (!result.precision_search.searched()) return {};
  return section("precision", "Precision within the stated error",
                 "Every large dot is a plan that was built, compared with the reference on all inputs, and raced with "
                 "the plan before this rung; small dots are sums over the parts, and no more than a guess. A recipe of "
                 "the table makes its plan again.",
                 plot_of(result) + wholes_table(result) + parts_table(result));
}

}  // namespace rung::report

// Bars, whiskers and dots lie where their figures say, relative to one another.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "report/html.hpp"
#include "report/page_reader.hpp"
#include "report/sample.hpp"
#include "report/svg.hpp"

namespace rung {
namespace {

using ::testing::DoubleNear;
using testing::Element;
using testing::elements;
using ::testing::ElementsAre;
using testing::section_of;

constexpr double kDrawn = 0.011;  // per cent: coordinates have two decimals

double begin_of(const Element& bar) { return bar.number("x"); }
double end_of_bar(const Element& bar) { return bar.number("x") + bar.number("width"); }

// A drawing's whisker: where its two ends and its line's ends are.
struct Whisker {
  double lo = NAN, hi = NAN;
};
Whisker whisker_of(const Element& row) {
  std::vector<Element> lines = elements(row.inner, {"line"}, "whisker");
  EXPECT_EQ(lines.size(), 3u);
  if (lines.size() != 3) return {};
  EXPECT_EQ(lines[0].number("y1"), lines[0].number("y2")) << "the line is level";
  EXPECT_EQ(lines[1].number("x1"), lines[0].number("x1"));
  EXPECT_EQ(lines[1].number("x2"), lines[0].number("x1"));
  EXPECT_EQ(lines[2].number("x1"), lines[0].number("x2"));
  EXPECT_EQ(lines[2].number("x2"), lines[0].number("x2"));
  EXPECT_LT(lines[1].number("y1"), lines[0].number("y1")) << "its ends are upright";
  EXPECT_GT(lines[1].number("y2"), lines[0].number("y1"));
  return {lines[0].number("x1"), lines[0].number("x2")};
}

class Drawing : public ::testing::Test {
 protected:
  // Rows of the section's first table.
  std::vector<Element> rows(const std::string& id) const {
    return elements(elements(section_of(page, id).inner, {"tbody"}).at(0).inner, {"tr"});
  }
  static Element only(const Element& row, const std::string& tag, const std::string& css) {
    std::vector<Element> found = elements(row.inner, {tag}, css);
    EXPECT_EQ(found.size(), 1u) << tag << " " << css;
    return found.empty() ? Element{} : found[0];
  }
  ClimbResult result = testing::distinct_climb();
  std::string page = render_html(result);
};

TEST_F(Drawing, DrawsFloorWithinFinalTimeWithinBaseline) {
  Element header = elements(page, {"header"}).at(0);
  EXPECT_EQ(only(header, "rect", "track").number("width"), 100);
  EXPECT_NEAR(only(header, "rect", "left").number("width"), 17.9 / 61.3 * 100, kDrawn);
  EXPECT_NEAR(only(header, "rect", "gain").number("width"), 11.2 / 61.3 * 100, kDrawn);
}

TEST_F(Drawing, OfRungsGoesFromOldToNewTime) {
  std::vector<Element> steps = rows("ladder");
  ASSERT_EQ(steps.size(), 4u);
  double per_ms = only(steps[0], "rect", "base").number("width") / 61.3;
  Element gain = only(steps[1], "rect", "gain");
  EXPECT_NEAR(begin_of(gain), 35.2 * per_ms, kDrawn);
  EXPECT_NEAR(end_of_bar(gain), 61.0 * per_ms, kDrawn);
  EXPECT_NEAR(end_of_bar(only(steps[1], "rect", "rest")), 35.2 * per_ms, kDrawn);
  Element refused = only(steps[2], "rect", "refused");
  EXPECT_NEAR(begin_of(refused), 35.4 * per_ms, kDrawn);
  EXPECT_NEAR(end_of_bar(refused), 36.9 * per_ms, kDrawn);
  for (const Element& step : steps) EXPECT_NEAR(only(step, "line", "floor").number("x1"), 11.2 * per_ms, kDrawn);
}

TEST_F(Drawing, OfARungsIntervalReachesBothItsEnds) {
  std::vector<Element> steps = rows("ladder");
  double per_ms = only(steps[0], "rect", "base").number("width") / 61.3;
  for (size_t i = 1; i < steps.size(); ++i) {
    const Receipt& r = result.rungs[i];
    Whisker whisker = whisker_of(steps[i]);
    EXPECT_NEAR(whisker.lo, r.before_ms / r.ci95.hi * per_ms, kDrawn) << r.name;
    EXPECT_NEAR(whisker.hi, r.before_ms / r.ci95.lo * per_ms, kDrawn) << r.name;
  }
  EXPECT_TRUE(elements(steps[0].inner, {"line"}, "whisker").empty()) << "nothing was compared with the baseline";
}

TEST_F(Drawing, CutsRejectedRungsThatAreFarSlower) {
  result.rungs[2].ms = 50 * 61.3;
  page = render_html(result);
  std::vector<Element> steps = rows("ladder");
  EXPECT_NEAR(only(steps[0], "rect", "base").number("width"), 80, kDrawn) << "the axis ends a quarter further";
  EXPECT_NEAR(end_of_bar(only(steps[2], "rect", "refused")), 100, kDrawn);
}

// By ratio: equal factors are equally far apart, and the upright stands at 1.
TEST_F(Drawing, OfAblationGoesFromOneToTheFactor) {
  std::vector<Element> drawn = rows("ablation");
  ASSERT_EQ(drawn.size(), 3u);
  const AblationRow most = result.ablation[2];
  double one = only(drawn[0], "line", "zero").number("x1");
  double per_log = (end_of_bar(only(drawn[0], "rect", "gain")) - one) / std::log(most.ratio);
  ASSERT_GT(per_log, 10);
  const AblationRow sorted[] = {most, result.ablation[0], result.ablation[1]};
  for (size_t i = 0; i < drawn.size(); ++i) {
    Whisker whisker = whisker_of(drawn[i]);
    EXPECT_NEAR(whisker.lo, one + per_log * std::log(sorted[i].ci95.lo), 2 * kDrawn) << sorted[i].name;
    EXPECT_NEAR(whisker.hi, one + per_log * std::log(sorted[i].ci95.hi), 2 * kDrawn) << sorted[i].name;
  }
  EXPECT_NEAR(begin_of(only(drawn[0], "rect", "gain")), one, kDrawn);
  EXPECT_NEAR(end_of_bar(only(drawn[1], "rect", "gain")), one + per_log * std::log(1.622), 2 * kDrawn);
  EXPECT_NEAR(end_of_bar(only(drawn[2], "rect", "rest")), one + per_log * std::log(1.004), 2 * kDrawn);
}

// The line from the fastest run to p99, the bar to p90, the upright at the median; the axis goes by ratio.
TEST_F(Drawing, OfLatencyHasItsTailsApart) {
  std::vector<Element> drawn = rows("latency");
  ASSERT_EQ(drawn.size(), 3u);
  double at_least = whisker_of(drawn[1]).lo, per_log = (whisker_of(drawn[0]).hi - at_least) / std::log(83.9 / 15.7);
  ASSERT_GT(per_log, 10);
  auto at = [&](double ms) { return DoubleNear(at_least + per_log * std::log(ms / 15.7), 2 * kDrawn); };
  const Latency* measured[] = {&result.baseline, &result.final_latency, &result.cold};
  const char* css[] = {"rest", "gain", "gain"};
  for (size_t i = 0; i < 3; ++i) {
    Element bar = only(drawn[i], "rect", css[i]);
    EXPECT_THAT(whisker_of(drawn[i]).lo, at(measured[i]->min_ms));
    EXPECT_THAT(whisker_of(drawn[i]).hi, at(measured[i]->p99_ms));
    EXPECT_THAT(begin_of(bar), at(measured[i]->min_ms));
    EXPECT_THAT(end_of_bar(bar), at(measured[i]->p90_ms));
    EXPECT_THAT(only(drawn[i], "line", "median").number("x1"), at(measured[i]->median_ms));
  }
}

TEST_F(Drawing, OfCategoriesFillsTheWidthOnce) {
  for (const Element& stack : elements(section_of(page, "categories").inner, {"div"}, "stack")) {
    double x = 0;
    for (const Element& part : elements(stack.inner, {"rect"}, "part")) {
      EXPECT_NEAR(begin_of(part), x, 2 * kDrawn);
      x = end_of_bar(part);
    }
    EXPECT_NEAR(x, 100, 0.05);
  }
  Element before = elements(section_of(page, "categories").inner, {"div"}, "stack").at(0);
  EXPECT_NEAR(only(before, "rect", "c1").number("width"), 15200.0 / 61200 * 100, kDrawn) << "attention";
}

TEST_F(Drawing, OfStagesAndOpsMarksTheirFloor) {
  std::vector<Element> stages = rows("stages");
  for (auto [i, us, floor_us] : {std::tuple{size_t{0}, 960.0, 710.0}, {size_t{1}, 14100.0, 9300.0}}) {
    std::vector<Element> bars = elements(stages[i].inner, {"rect"}, "c0");
    ASSERT_EQ(bars.size(), 2u);
    EXPECT_NEAR(bars[0].number("width"), us / 14100 * 100, kDrawn);
    EXPECT_NEAR(bars[1].number("width"), floor_us / 14100 * 100, kDrawn);
  }
  std::vector<Element> bars = elements(rows("ops").at(1).inner, {"rect"}, "c1");
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_NEAR(bars[0].number("width"), 3170.0 / 10640 * 100, kDrawn);
  EXPECT_NEAR(bars[1].number("width"), 1870.0 / 10640 * 100, kDrawn);
}

TEST_F(Drawing, OfCandidatesStopsAtThreeTimesTheChosen) {
  std::vector<Element> choices = elements(section_of(page, "choices").inner, {"details"});
  EXPECT_NEAR(only(choices[0], "rect", "gain").number("width"), 100.0 / 3, kDrawn);
  EXPECT_NEAR(only(choices[0], "rect", "rest").number("width"), 527.0 / 310 / 3 * 100, kDrawn);
  Element slow = only(choices[1], "rect", "rest");
  EXPECT_TRUE(slow.is("cut"));
  EXPECT_EQ(slow.number("width"), 100);
}

// The axes' ticks say what the places mean; dots and roofs must lie by them.
class Roofline : public Drawing {
 protected:
  // Pixels for the logarithm of a value, from two ticks.
  struct Axis {
    double at = 0, value = 1, per_log = 0;
    double operator()(double v) const { return at + per_log * std::log(v / value); }
  };
  static double value_of(const Element& tick) {
    std::string text = tick.text();
    std::erase(text, ',');
    return std::stod(text);
  }
  Axis axis(const std::string& css, const std::string& coordinate) const {
    std::vector<Element> ticks = elements(plot.inner, {"text"}, css);
    std::erase_if(ticks, [](const Element& tick) { return !tick.is("tick"); });
    EXPECT_GE(ticks.size(), 2u);
    if (ticks.size() < 2) return {};
    double a = value_of(ticks.front()), b = value_of(ticks.back());
    double from = ticks.front().number(coordinate), to = ticks.back().number(coordinate);
    return {from, a, (to - from) / std::log(b / a)};
  }
  Element plot = elements(section_of(page, "roofline").inner, {"svg"}, "for-wide").at(0);
  Axis x = axis("middle", "x"), y = axis("end", "y");  // the text of a y tick lies 4 below its line
};

constexpr double kPixels = 0.3;  // coordinates have one decimal, and so have the ticks that the axes are known from

TEST_F(Roofline, HasEachProblemsDotAtSpeedAndIntensity) {
  std::vector<Element> dots = elements(plot.inner, {"circle"}, "dot");
  ASSERT_EQ(dots.size(), 3u) << "a copy has no arithmetic";
  EXPECT_EQ(elements(dots[0].inner, {"title"}).at(0).text(),
            "layer.*.dense (× 2): 404 GFLOP/s at 45.3 FLOP/byte, 10.6 ms in all, 63 % of floor. linear_k");
  const double flops[] = {4.3e9, 0.61e9, 0.02e9}, bytes[] = {95e6, 9.1e6, 13e6}, us[] = {10640, 3170, 433};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(dots[i].number("cx"), x(flops[i] / bytes[i]), kPixels) << i;
    EXPECT_NEAR(dots[i].number("cy"), y(flops[i] / us[i] * 1e-3) - 4, kPixels) << i;
    EXPECT_NEAR(dots[i].number("r"), 3.5 + 10 * std::sqrt(us[i] / 10640), 0.06) << "a dot's area is its time";
  }
}

TEST_F(Roofline, HasEachTypesRoofBentAtItsBandwidth) {
  std::vector<Element> roofs = elements(plot.inner, {"line"}, "roof");
  ASSERT_EQ(roofs.size(), 4u) << "f32 and bf16, a slant and a level each";
  for (auto [i, peak] : {std::pair{size_t{0}, 395.0}, {size_t{2}, 763.0}}) {
    EXPECT_NEAR(roofs[i].number("x2"), x(peak / 43.1), kPixels);
    EXPECT_NEAR(roofs[i].number("y2"), y(peak) - 4, kPixels);
    EXPECT_NEAR(roofs[i + 1].number("y1"), y(peak) - 4, kPixels);
    EXPECT_NEAR(roofs[i + 1].number("y2"), y(peak) - 4, kPixels);
  }
  EXPECT_THAT(testing::texts_of(elements(plot.inner, {"text"}, "roof-name")),
              ElementsAre("f32 395 GFLOP/s", "bf16 763 GFLOP/s", "memory 43.1 GB/s"));
}

// An axis by ratio has a tick at 15: written with one digit it would be a second 20.
TEST_F(Drawing, OfLatencyHasItsTicksWhereTheyBelong) {
  std::vector<Element> ticks =
      elements(elements(section_of(page, "latency").inner, {"thead"}).at(0).inner, {"text"}, "tick");
  EXPECT_THAT(testing::texts_of(ticks), ElementsAre("15", "20", "30", "40", "50", "70"));
  double per_log = (ticks[5].number("x") - ticks[0].number("x")) / std::log(70.0 / 15);
  EXPECT_NEAR(ticks[1].number("x"), ticks[0].number("x") + per_log * std::log(20.0 / 15), 2 * kDrawn);
  EXPECT_NEAR(whisker_of(rows("latency").at(1)).lo, ticks[0].number("x") + per_log * std::log(15.7 / 15), 2 * kDrawn);
}

TEST(Ticks, AreWrittenAsTheyAre) {
  EXPECT_EQ(report::tick_text(15), "15");
  EXPECT_EQ(report::tick_text(1.5), "1.5");
  EXPECT_EQ(report::tick_text(0.2), "0.2");
  EXPECT_EQ(report::tick_text(0.15), "0.15");
  EXPECT_EQ(report::tick_text(20), "20");
  EXPECT_EQ(report::tick_text(1500), "1,500");
  EXPECT_EQ(report::tick_text(1e6), "1,000,000");
}

TEST(Scale, ClampsAndSpacesByRatioWhereAsked) {
  report::Scale linear{10, 30, 0, 200};
  EXPECT_DOUBLE_EQ(linear(15), 50);
  EXPECT_DOUBLE_EQ(linear(5), 0);
  EXPECT_DOUBLE_EQ(linear(40), 200);
  report::Scale by_ratio{1, 100, 100, 0, true};
  EXPECT_DOUBLE_EQ(by_ratio(10), 50);
  EXPECT_DOUBLE_EQ(by_ratio(0.1), 100);
  EXPECT_TRUE(std::isnan(linear(NAN)));
  EXPECT_DOUBLE_EQ((report::Scale{5, 5, 3, 9})(7), 3) << "nothing to spread";
}

TEST(Ticks, AreRoundAndInside) {
  EXPECT_THAT(report::linear_ticks(0, 61.3, 4), ElementsAre(0, 20, 40, 60));
  EXPECT_THAT(report::linear_ticks(0, 1), ElementsAre(0, DoubleNear(0.2, 1e-12), DoubleNear(0.4, 1e-12),
                                                      DoubleNear(0.6, 1e-12), DoubleNear(0.8, 1e-12), 1));
  EXPECT_THAT(report::log_ticks(15, 84), ElementsAre(15, 20, 30, 40, 50, 70));
  EXPECT_THAT(report::log_ticks(0.5, 30), ElementsAre(0.5, 1, 2, 5, 10, 20));
  EXPECT_THAT(report::log_ticks(1, 2000), ElementsAre(1, 10, 100, 1000));
  EXPECT_TRUE(report::log_ticks(0, 10).empty());
}

}  // namespace
}  // namespace rung

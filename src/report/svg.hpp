// Draws small charts as SVG: axes, one-row strips as wide as their cell, and plots of a fixed size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/markup.hpp"

namespace rung::report {

// Maps [min, max] to [from, to], clamped; `log` spaces by ratio. Non-finite values stay non-finite and are not drawn.
struct Scale {
  double min = 0, max = 1;
  double from = 0, to = 100;
  bool log = false;
  double operator()(double value) const;
};

// Returns round values inside [min, max], about `wanted` in number.
std::vector<double> linear_ticks(double min, double max, int wanted = 5);
std::vector<double> log_ticks(double min, double max);  // decades if there are three or more; else digits too
std::string tick_text(double tick);                     // one digit, or two if needed: "20", "15"

// x is in per cent of the width, y in pixels. CSS classes give colours: one drawing serves light, dark and paper.
class Strip {
 public:
  explicit Strip(double height) : height_(height) {}
  Strip& bar(double from, double to, std::string_view css);
  Strip& line(double x, std::string_view css);  // from top to bottom
  // The next three shapes cross bars and must stand out from their colours: each has a halo of the page's colour.
  Strip& crossing(double x, std::string_view css);  // a line
  Strip& whisker(double lo, double hi, std::string_view css);
  Strip& mark(double x, std::string_view css);  // a short upright tick in the middle
  Strip& label(double x, std::string_view text, std::string_view css);
  Html finish(std::string_view description) const;  // an image with a text alternative
  Html decoration() const;                          // hidden from screen readers: the table says the same

 private:
  double height_;
  Html body_;
};

struct Point {
  double x = 0, y = 0;
};

// A plot has a fixed size in pixels; it is scaled down with the page if it does not fit.
class Plot {
 public:
  Plot(double width, double height) : width_(width), height_(height) {}
  Plot& line(Point a, Point b, std::string_view css);
  Plot& circle(Point centre, double radius, std::string_view css, std::string_view tip);
  Plot& text(Point at, std::string_view content, std::string_view css);
  Html finish(std::string_view css, std::string_view description) const;

 private:
  double width_, height_;
  Html body_;
};

}  // namespace rung::report

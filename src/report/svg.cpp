// Draws small charts as SVG.
// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <algorithm>
#include <cmath>

#include "report/format.hpp"

namespace rung::report {

double Scale::operator()(double value) const {
  if (!std::isfinite(value)) return value;
  if (!(max > min)) return from;
  double share = log ? std::log(std::max(value, min) / min) / std::log(max / min) : (value - min) / (max - min);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

std::vector<double> linear_ticks(double min, double max, int wanted) {
  if (!(max > min) || !std::isfinite(max - min)) return {};
  double step = std::pow(10, std::floor(std::log10((max - min) / wanted)));
  for (double factor : {2.0, 2.5, 2.0})
    if ((max - min) / step > wanted * 1.3) step *= factor;
  std::vector<double> ticks;
  for (double i = std::ceil(min / step); i * step <= max * (1 + 1e-9) && ticks.size() < 50; ++i)
    ticks.push_back(i * step);
  return ticks;
}

std::vector<double> log_ticks(double min, double max) {
  std::vector<double> ticks;
  if (!(min > 0) || !(max > min) || !std::isfinite(max)) return ticks;
  double decades = std::log10(max / min);
  static const std::vector<double> kFew{1}, kSome{1, 2, 5}, kMany{1, 1.5, 2, 3, 4, 5, 7};
  const std::vector<double>& digits = decades >= 3 ? kFew : decades >= 1 ? kSome : kMany;
  for (int e = static_cast<int>(std::floor(std::log10(min))); std::pow(10, e) <= max; ++e)
    for (double digit : digits) {
      double tick = digit * std::pow(10, e);
      if (tick >= min && tick <= max) ticks.push_back(tick);
    }
  return ticks;
}

std::string tick_text(double tick) { return significant(tick, fmt::format("{:.1e}", tick)[2] == '0' ? 1 : 2); }

Strip& Strip::bar(double from, double to, std::string_view css) {
  if (to < from) std::swap(from, to);
  if (std::isfinite(from) && std::isfinite(to) && to > from)
    body_ +=
        html("<rect class='{}' x='{:.2f}%' width='{:.2f}%' y='3' height='{:g}'/>", css, from, to - from, height_ - 6);
  return *this;
}

Strip& Strip::line(double x, std::string_view css) {
  if (std::isfinite(x))
    body_ += html("<line class='{}' x1='{:.2f}%' x2='{:.2f}%' y1='0' y2='{:g}'/>", css, x, x, height_);
  return *this;
}

Strip& Strip::crossing(double x, std::string_view css) { return line(x, "halo").line(x, css); }

Strip& Strip::whisker(double lo, double hi, std::string_view css) {
  if (!std::isfinite(lo) || !std::isfinite(hi)) return *this;
  if (css != "halo") whisker(lo, hi, "halo");
  double middle = height_ / 2;
  body_ += html("<line class='{}' x1='{:.2f}%' x2='{:.2f}%' y1='{:g}' y2='{:g}'/>", css, lo, hi, middle, middle);
  for (double x : {lo, hi})
    body_ +=
        html("<line class='{}' x1='{:.2f}%' x2='{:.2f}%' y1='{:g}' y2='{:g}'/>", css, x, x, middle - 3, middle + 3);
  return *this;
}

Strip& Strip::mark(double x, std::string_view css) {
  if (css != "halo") mark(x, "halo");
  if (std::isfinite(x))
    body_ += html("<line class='{}' x1='{:.2f}%' x2='{:.2f}%' y1='4' y2='{:g}'/>", css, x, x, height_ - 4);
  return *this;
}

Strip& Strip::label(double x, std::string_view text, std::string_view css) {
  const char* anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
  if (std::isfinite(x))
    body_ +=
        html("<text class='{}' x='{:.2f}%' y='{:g}' text-anchor='{}'>{}</text>", css, x, height_ / 2 + 4, anchor, text);
  return *this;
}

Html Strip::finish(std::string_view description) const {
  return html("<svg class='strip' height='{:g}' role='img' aria-label='{}'>{}</svg>", height_, description, body_);
}

Html Strip::decoration() const {
  return html("<svg class='strip' height='{:g}' aria-hidden='true'>{}</svg>", height_, body_);
}

Plot& Plot::line(Point a, Point b, std::string_view css) {
  body_ += html("<line class='{}' x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>", css, a.x, a.y, b.x, b.y);
  return *this;
}

Plot& Plot::circle(Point centre, double radius, std::string_view css, std::string_view tip) {
  body_ += html("<circle class='{}' cx='{:.1f}' cy='{:.1f}' r='{:.1f}' data-tip='{}'><title>{}</title></circle>", css,
                centre.x, centre.y, radius, tip, tip);
  return *this;
}

Plot& Plot::text(Point at, std::string_view content, std::string_view css) {
  body_ += html("<text class='{}' x='{:.1f}' y='{:.1f}'>{}</text>", css, at.x, at.y, content);
  return *this;
}

Html Plot::finish(std::string_view css, std::string_view description) const {
  return html("<svg class='plot {}' viewBox='0 0 {:g} {:g}' width='{:g}' role='img' aria-label='{}'>{}</svg>", css,
              width_, height_, width_, description, body_);
}

}  // namespace rung::report

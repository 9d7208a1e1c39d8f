// The roofline: speed against work per byte; a dot's place shows what limits its op.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/format.hpp"
#include "report/ladder_rows.hpp"
#include "report/op_groups.hpp"
#include "report/page/sections.hpp"
#include "report/svg.hpp"

namespace rung::report {
namespace {

constexpr size_t kMostDots = 120;

struct Canvas {
  double width, height, left, right, top, bottom;
  size_t labels;  // at most this many
  const char* css;
};
constexpr Canvas kWide{1040, 430, 58, 24, 16, 44, 9, "for-wide"}, kNarrow{356, 380, 44, 10, 16, 42, 4, "for-narrow"};

struct Dot {
  OpGroup group;
  double intensity = 0, gflops = 0;  // flop/byte, GFLOP/s
};

std::vector<Dot> dots_of(const ClimbResult& result) {
  std::vector<Dot> dots;
  for (OpGroup& group : group_ops(result.ops)) {
    if (!(group.flops > 0) || !(group.bytes > 0) || !(group.us > 0) || dots.size() == kMostDots) continue;
    double intensity = group.flops / group.bytes, gflops = group.gflops();
    dots.push_back({std::move(group), intensity, gflops});
  }
  return dots;
}

struct Axes {
  Scale x, y;
};

Axes axes_of(const std::vector<Dot>& dots, const Peaks& peaks, const Canvas& c) {
  double peak = std::max(peaks.gemm_f32_gflops, peaks.gemm_bf16_gflops);
  double knee = peaks.read_gbps > 0 ? peak / peaks.read_gbps : 1;
  double x0 = knee / 8, x1 = knee * 8, y0 = peak / 8, y1 = peak * 1.6;
  for (const Dot& d : dots) {
    x0 = std::min(x0, d.intensity / 1.5), x1 = std::max(x1, d.intensity * 1.5);
    y0 = std::min(y0, d.gflops / 1.8), y1 = std::max(y1, d.gflops * 1.5);
  }
  // Dots stay distinguishable down to six decades below the peak; dots beyond sit on the edge.
  x0 = std::max(x0, knee * 1e-4), x1 = std::min(x1, knee * 1e4), y0 = std::max(y0, peak * 1e-6),
  y1 = std::min(y1, peak * 1e3);
  return {{x0, x1, c.left, c.width - c.right, true}, {y0, y1, c.height - c.bottom, c.top, true}};
}

void draw_grid(Plot& plot, const Axes& a, const Canvas& c) {
  bool wide = std::log10(a.x.max / a.x.min) < 3 && c.width < 500;  // a narrow canvas has no room for 1-2-5
  for (double tick : log_ticks(a.x.min, a.x.max)) {
    if (wide && std::abs(std::log10(tick) - std::round(std::log10(tick))) > 1e-9) continue;
    plot.line({a.x(tick), c.top}, {a.x(tick), c.height - c.bottom}, "grid");
    plot.text({a.x(tick), c.height - c.bottom + 16}, tick_text(tick), "tick middle");
  }
  for (double tick : log_ticks(a.y.min, a.y.max)) {
    plot.line({c.left, a.y(tick)}, {c.width - c.right, a.y(tick)}, "grid");
    plot.text({c.left - 6, a.y(tick) + 4}, tick_text(tick), "tick end");
  }
  plot.text({(c.left + c.width - c.right) / 2, c.height - 6}, "work per byte, FLOP/byte", "axis middle");
}

struct Box {
  double x0, y0, x1, y1;
  bool meets(const Box& o) const { return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1; }
};

// Places names beside their dots in free space: right, left, above, below, else not at all.
class Labels {
 public:
  explicit Labels(const Canvas& canvas) : canvas_(canvas) {}
  void keep_clear(const Box& box) { taken_.push_back(box); }

  std::optional<Point> place(Point dot, double radius, const std::string& text) {
    double w = 6.3 * static_cast<double>(display_width(text)), gap = radius + 5;
    for (Point p :
         {Point{dot.x + gap, dot.y + 4}, Point{dot.x - gap - w, dot.y + 4}, Point{dot.x - w / 2, dot.y - gap},
          Point{dot.x - w / 2, dot.y + gap + 9}, Point{dot.x + gap, dot.y + 18}, Point{dot.x + gap, dot.y - 10}}) {
      Box box{p.x - 2, p.y - 11, p.x + w + 2, p.y + 3};
      bool inside = box.x0 >= canvas_.left && box.x1 <= canvas_.width - canvas_.right && box.y0 >= canvas_.top &&
                    box.y1 <= canvas_.height - canvas_.bottom;
      if (!inside || std::ranges::any_of(taken_, [&](const Box& o) { return box.meets(o); })) continue;
      taken_.push_back(box);
      return p;
    }
    return std::nullopt;
  }

 private:
  Canvas canvas_;
  std::vector<Box> taken_;
};

Box text_box(Point end, const std::string& text) {
  return {end.x - 7.6 * static_cast<double>(display_width(text)), end.y - 11, end.x, end.y + 3};
}

// Draws the slanted roof from the bandwidth up to where it meets `peak`, then level.
void draw_roof(Plot& plot, Labels& labels, const Axes& a, double gbps, std::pair<double, std::string> peak) {
  if (!(peak.first > 0) || !(gbps > 0)) return;
  double knee = std::clamp(peak.first / gbps, a.x.min, a.x.max), start = std::clamp(a.y.min / gbps, a.x.min, knee);
  plot.line({a.x(start), a.y(gbps * start)}, {a.x(knee), a.y(peak.first)}, "roof");
  plot.line({a.x(knee), a.y(peak.first)}, {a.x.to, a.y(peak.first)}, "roof");
  std::string name = fmt::format("{} {} GFLOP/s", peak.second, significant(peak.first));
  Point end{a.x.to, a.y(peak.first) - 6};
  plot.text(end, name, "roof-name end");
  labels.keep_clear(text_box(end, name));
}

// Writes the name beside the upper part of the slant, where only memory limits speed.
void draw_bandwidth_name(Plot& plot, Labels& labels, const Axes& a, const Peaks& peaks) {
  if (!(peaks.read_gbps > 0) || !(peaks.gemm_f32_gflops > 0)) return;
  double knee = peaks.gemm_f32_gflops / peaks.read_gbps, start = std::max(a.x.min, a.y.min / peaks.read_gbps);
  double x = start * std::pow(knee / start, 0.7);
  std::string name = fmt::format("memory {} GB/s", significant(peaks.read_gbps));
  Point end{std::max(a.x(x) - 8, a.x.from + 7.6 * static_cast<double>(display_width(name))),
            a.y(x * peaks.read_gbps) - 6};
  plot.text(end, name, "roof-name end");
  labels.keep_clear(text_box(end, name));
}

std::string tip_of(const Dot& d) {
  return fmt::format("{}{}: {} GFLOP/s at {} FLOP/byte, {} in all, {} of floor. {}", d.group.label,
                     d.group.count > 1 ? fmt::format(" (× {})", d.group.count) : "", significant(d.gflops),
                     significant(d.intensity), duration_us(d.group.us),
                     percent(floor_reached(d.group.us, d.group.floor_us)), d.group.kernel);
}

// Shortens "encoder.layer.0.output.dense" to its last two words, which identify it.
std::string short_name(const OpGroup& group) {
  size_t dot = group.label.rfind('.');
  if (dot != std::string::npos && dot > 0) dot = group.label.rfind('.', dot - 1);
  std::string name = dot == std::string::npos ? group.label : group.label.substr(dot + 1);
  if (name.starts_with("*.")) name.erase(0, 2);
  return shorten(printable(name.empty() ? group.op : name), 30);
}

void draw_dots(Plot& plot, Labels& labels, const std::vector<Dot>& dots, const Axes& a, const Canvas& c) {
  double longest = dots.empty() ? 1 : dots.front().group.us;
  auto radius = [&](const Dot& d) { return 3.5 + (c.width < 500 ? 7 : 10) * std::sqrt(d.group.us / longest); };
  for (const Dot& d : dots) {
    Point p{a.x(d.intensity), a.y(d.gflops)};
    labels.keep_clear({p.x - radius(d), p.y - radius(d), p.x + radius(d), p.y + radius(d)});
    plot.circle(p, radius(d), std::string("dot ") + std::string(category_class(d.group.category)), tip_of(d));
  }
  size_t written = 0;
  for (const Dot& d : dots) {
    if (written == c.labels) break;
    std::string name = short_name(d.group);
    auto at = labels.place({a.x(d.intensity), a.y(d.gflops)}, radius(d), name);
    if (at) plot.text(*at, name, "dot-name"), ++written;
  }
}

Html draw(const ClimbResult& result, const std::vector<Dot>& dots, const Canvas& canvas) {
  Axes axes = axes_of(dots, result.peaks, canvas);
  Plot plot(canvas.width, canvas.height);
  draw_grid(plot, axes, canvas);
  Labels labels(canvas);
  const Peaks& p = result.peaks;
  draw_roof(plot, labels, axes, p.read_gbps, {p.gemm_f32_gflops, "f32"});
  if (result.dtype != "f32") draw_roof(plot, labels, axes, p.read_gbps, {p.gemm_bf16_gflops, "bf16"});
  draw_bandwidth_name(plot, labels, axes, p);
  draw_dots(plot, labels, dots, axes, canvas);
  return plot.finish(canvas.css, fmt::format("Roofline plot of {}; the table above holds the same numbers.",
                                             counted(dots.size(), "problem")));
}

Html legend(const std::vector<Dot>& dots) {
  Html out{"<p class='caption'>"};
  for (size_t i = 0; i < kCategoryNames.size(); ++i)
    if (std::ranges::any_of(dots, [&](const Dot& d) { return d.group.category == Category(i); }))
      out += html("<span class='entry'><span class='key {}'></span>{}</span> ", category_class(Category(i)),
                  kCategoryNames[i]);
  return out + Html{"</p>\n"};
}

}  // namespace

Html roofline(const ClimbResult& result) {
  std::vector<Dot> dots = dots_of(result);
  bool peaks_known = result.peaks.gemm_f32_gflops > 0 && result.peaks.read_gbps > 0;
  if (dots.empty() || !peaks_known) return {};
  return section("roofline", "Roofline",
                 "GFLOP/s against work per byte, both axes by ratio; a dot’s area is its time. Dots under the slanted "
                 "roof wait for "
                 "memory, those under the level one for arithmetic; a dot above the slant found its data in the cache.",
                 draw(result, dots, kWide) + draw(result, dots, kNarrow) + legend(dots));
}

}  // namespace rung::report

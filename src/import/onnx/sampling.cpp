// Operators of ONNX graphs that read an image between its elements: at a grid of places, or within regions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;
using exported::Rounding;

// Arithmetic of f32 nodes, for formulas of several terms.
struct Numbers {
  const Call& call;
  NodeId add(NodeId a, NodeId b) const { return call.binary(BinaryKind::add, a, b); }
  NodeId sub(NodeId a, NodeId b) const { return call.binary(BinaryKind::sub, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return call.binary(BinaryKind::mul, a, b); }
  NodeId number(double value) const { return call.scalar(value, DType::f32); }
  NodeId plus(NodeId a, double value) const { return add(a, number(value)); }
  NodeId times(NodeId a, double value) const { return mul(a, number(value)); }
  NodeId floor(NodeId a) const { return call.rounded(a, Rounding::down); }
  NodeId both(NodeId a, NodeId b) const { return call.binary(BinaryKind::logical_and, a, b); }
};

enum class Padding : uint8_t { zeros, border, reflection };

// One axis that is read: its extent, and where each result stands in it, f32 [N,P].
struct Line {
  int64_t extent;
  NodeId place;
};

struct Sampler {
  Numbers of;
  Padding padding;
  bool corners;

  // Places beyond the ends turn back at them: at the outer elements' centres, or half an element outside.
  NodeId reflected(NodeId x, int64_t extent) const {
    const double low = corners ? 0 : -0.5, range = static_cast<double>(extent) - (corners ? 1 : 0);
    if (range == 0) return of.times(x, 0);
    const NodeId away = of.call.unary(UnaryKind::abs, of.plus(x, -low));
    const NodeId rest = of.call.add(Formula{FormulaKind::fmod}, {away, of.number(2 * range)});
    const NodeId back = of.sub(of.number(2 * range), rest);
    const NodeId far = of.call.binary(BinaryKind::gt, rest, of.number(range));
    return of.plus(of.call.select(far, back, rest), low);
  }
  NodeId inside(NodeId x, int64_t extent) const { return of.call.clamp(x, 0, static_cast<double>(extent - 1)); }

  // Brings a place back into the image where the padding says so.
  NodeId settled(NodeId x, int64_t extent) const {
    if (padding == Padding::zeros) return x;
    return inside(padding == Padding::border ? x : reflected(x, extent), extent);
  }
};

// A neighbour along one axis: the index, and the share of its value.
struct Tap {
  NodeId index, weight;
};

// The four weights of Keys's cubic, of distance t from the second one.
std::vector<NodeId> cubic_weights(const Numbers& of, NodeId t) {
  constexpr double kA = -0.75;
  const auto outer = [&](NodeId x) {  // 1 <= x <= 2
    const NodeId inner = of.plus(of.mul(of.plus(of.times(x, kA), -5 * kA), x), 8 * kA);
    return of.plus(of.mul(inner, x), -4 * kA);
  };
  const auto inner = [&](NodeId x) {  // 0 <= x <= 1
    return of.plus(of.mul(of.mul(of.plus(of.times(x, kA + 2), -(kA + 3)), x), x), 1);
  };
  const NodeId rest = of.sub(of.number(1), t);
  return {outer(of.plus(t, 1)), inner(t), inner(rest), outer(of.plus(rest, 1))};
}

std::vector<Tap> taps_of(const Sampler& s, const Line& line, const std::string& mode) {
  const Numbers& of = s.of;
  if (mode == "nearest") {
    const NodeId near = s.settled(of.call.rounded(line.place, Rounding::nearest_even), line.extent);
    const NodeId index = s.padding == Padding::reflection ? of.call.rounded(near, Rounding::nearest_even) : near;
    return {{index, of.call.broadcast(of.number(1), of.call.shape(index))}};
  }
  const bool cubic = mode == "cubic";
  const NodeId place = cubic ? line.place : s.settled(line.place, line.extent);
  const NodeId first = of.floor(place), rest = of.sub(place, first);
  if (!cubic) return {{first, of.sub(of.number(1), rest)}, {of.plus(first, 1), rest}};
  const auto weights = cubic_weights(of, rest);
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) {
    const NodeId index = of.plus(first, i - 1);
    const NodeId back = s.settled(index, line.extent);
    taps.push_back({s.padding == Padding::reflection ? of.call.rounded(back, Rounding::to_zero) : back,
                    weights[static_cast<size_t>(i)]});
  }
  return taps;
}

// Sums the products of values and shares over all neighbours, axis by axis. x: [N,C,elements], places: f32 [N,P].
struct Gathering {
  const Sampler& sampler;
  NodeId x;
  const std::vector<Line>& lines;
  const std::vector<std::vector<Tap>>& taps;

  // `flat`: the place so far, `share`: the product of shares, and `valid`: where all indices are inside.
  NodeId sum(size_t axis, std::optional<NodeId> flat, std::optional<NodeId> share, std::optional<NodeId> valid) const {
    const Numbers& of = sampler.of;
    const Call& call = of.call;
    if (axis == lines.size()) {
      const Shape s = call.shape(x), p = call.shape(*flat);
      const NodeId index = call.broadcast(call.unsqueeze(call.cast(*flat, DType::i64), 1), {s[0], s[1], p[1]});
      const NodeId value = call.cast(call.gather_elements(x, index, 2), DType::f32);
      const NodeId shared = of.mul(value, call.unsqueeze(*share, 1));
      return call.select(call.unsqueeze(*valid, 1), shared, of.number(0));
    }
    std::optional<NodeId> total;
    const int64_t extent = lines[axis].extent;
    for (const Tap& tap : taps[axis]) {
      const NodeId index = sampler.inside(tap.index, extent);
      const NodeId is_inside = call.binary(BinaryKind::eq, index, tap.index);
      const NodeId at = flat ? of.add(of.times(*flat, static_cast<double>(extent)), index) : index;
      const NodeId part = sum(axis + 1, at, share ? of.mul(*share, tap.weight) : tap.weight,
                              valid ? of.both(*valid, is_inside) : is_inside);
      total = total ? of.add(*total, part) : part;
    }
    return *total;
  }
};

// x: [N,C,spatial...], lines: f32 [N,P] each; [N,C,P] in f32.
NodeId sampled(const Sampler& s, NodeId x, const std::vector<Line>& lines, const std::string& mode) {
  std::vector<std::vector<Tap>> taps;
  for (const Line& line : lines) taps.push_back(taps_of(s, line, mode));
  const Shape shape = s.of.call.shape(x);
  const NodeId flat = s.of.call.reshape(x, std::vector<int64_t>{shape[0], shape[1], -1});
  return Gathering{s, flat, lines, taps}.sum(0, {}, {}, {});
}

Padding padding_of(const std::string& word) {
  if (word == "zeros") return Padding::zeros;
  if (word == "border") return Padding::border;
  if (word != "reflection") refuse("padding_mode: got '{}', wanted zeros, border or reflection", word);
  return Padding::reflection;
}

std::string mode_of(const Call& call) {
  std::string word = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  if (word == "bilinear" || word == "linear") return "linear";
  if (word == "bicubic" || word == "cubic") return "cubic";
  if (word != "nearest") refuse("mode: got '{}', wanted linear, nearest or cubic", word);
  return word;
}

}  // namespace

// x: [N,C,spatial...], grid: [N,spatial of the result...,axes], of places from -1 to 1, the last axis of x first.
Outputs grid_sample(const Call& call) {
  const NodeId x = call[0], grid = call[1];
  const int axes = call.rank(x) - 2;
  const Shape g = call.shape(grid), s = call.shape(x);
  if (axes < 1 || g.rank() != axes + 2 || g.back() != axes || g[0] != s[0])
    refuse("a grid of {} for {}", call.type(grid), call.type(x));
  const Numbers of{call};
  const bool corners = call.integer("align_corners", 0) != 0;
  const Sampler sampler{of, padding_of(call.text("padding_mode", "zeros")), corners};
  const NodeId points = call.cast(call.reshape(grid, std::vector<int64_t>{s[0], -1, axes}), DType::f32);
  std::vector<Line> lines;
  for (int i = 0; i < axes; ++i) {
    const int64_t extent = s[2 + i];
    const NodeId n = of.plus(call.select_index(points, -1, axes - 1 - i), 1);
    const double scale = static_cast<double>(corners ? extent - 1 : extent) / 2;
    lines.push_back({extent, corners ? of.times(n, scale) : of.plus(of.times(n, scale), -0.5)});
  }
  Shape to{s[0], s[1]};
  for (int i = 1; i <= axes; ++i) to.push_back(g[i]);
  return {call.cast(call.reshape(sampled(sampler, x, lines, mode_of(call)), to), call.dtype(x))};
}

// Places of a grid from -1 to 1 times matrices [N,axes,axes + 1]; the last axis first.
Outputs affine_grid(const Call& call) {
  const NodeId theta = call[0];
  const auto size = call.integers_of(1);
  const int axes = static_cast<int>(size.size()) - 2;
  if (axes < 1 || axes > 3 || call.rank(theta) != 3 || call.shape(theta)[1] != axes || call.shape(theta)[2] != axes + 1)
    refuse("matrices of {} for {} sizes", call.type(theta), size.size());
  const bool corners = call.integer("align_corners", 0) != 0;
  Shape spatial;
  for (int i = 0; i < axes; ++i) spatial.push_back(size[static_cast<size_t>(i) + 2]);
  for (const int64_t extent : spatial)
    if (extent < 1 || extent > exported::kMostMade / 64) refuse("a size of {}", extent);
  const int64_t points = spatial.product();
  if (points > exported::kMostMade / 8) refuse("a grid of {}", spatial);
  const Strides strides = contiguous_strides(spatial);
  Tensor table({DType::f32, {points, axes + 1}});
  auto values = table.as<float>();
  for (int64_t p = 0; p < points; ++p) {
    for (int i = 0; i < axes; ++i) {
      const int axis = axes - 1 - i;
      const double extent = static_cast<double>(spatial[axis]),
                   at = static_cast<double>(p / strides[axis] % spatial[axis]);
      const double place = corners ? (extent == 1 ? 0 : 2 * at / (extent - 1) - 1) : (2 * at + 1) / extent - 1;
      values[static_cast<size_t>(p * (axes + 1) + i)] = static_cast<float>(place);
    }
    values[static_cast<size_t>(p * (axes + 1) + axes)] = 1;
  }
  const NodeId y = call.matmul(call.literal(table), call.swap_axes(call.cast(theta, DType::f32), 1, 2));
  Shape to{call.shape(theta)[0]};
  for (const int64_t extent : spatial) to.push_back(extent);
  to.push_back(axes);
  return {call.cast(call.reshape(y, to), call.dtype(theta))};
}

// Means, or maxima, of samples in each cell of regions [R,4] of x [N,C,H,W]: [R,C,h,w].
Outputs roi_align(const Call& call) {
  const NodeId x = call[0];
  const Shape s = call.shape(x);
  const int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1);
  const int64_t samples = call.integer("sampling_ratio", 0);
  const std::string mode = call.text("mode", "avg");
  if (s.rank() != 4 || call.rank(call[1]) != 2 || call.shape(call[1])[1] != 4)
    refuse("regions of {} in {}", call.type(call[1]), call.type(x));
  if (samples < 1 || samples > 64 || rows < 1 || columns < 1 || rows > 4096 || columns > 4096)
    refuse("{} samples for each of {} by {} cells, wanted a sampling_ratio of 1 to 64", samples, rows, columns);
  if (mode != "avg") refuse("mode: got '{}', wanted avg", mode);
  const Numbers of{call};
  const int64_t regions = call.shape(call[1])[0];
  const bool half = call.text("coordinate_transformation_mode",
                              call.version() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const double scale = call.number("spatial_scale", 1);
  const auto edge = [&](int64_t i) {
    return of.plus(of.times(call.cast(call.slice(call[1], 1, i, i + 1), DType::f32), scale), half ? -0.5 : 0);
  };
  const auto line = [&](int64_t axis, int64_t cells) {  // f32 [R, cells samples]
    const NodeId begin = edge(1 - axis), end = edge(3 - axis);
    NodeId width = of.sub(end, begin);
    if (!half) width = call.binary(BinaryKind::max, width, of.number(1));
    Tensor steps({DType::f32, {1, cells * samples}});
    for (int64_t i = 0; i < cells * samples; ++i)
      steps.as<float>()[static_cast<size_t>(i)] =
          static_cast<float>((static_cast<double>(i) + 0.5) / static_cast<double>(cells * samples));
    return of.add(begin, of.mul(width, call.literal(steps)));
  };
  const NodeId y = line(0, rows), xs = line(1, columns);
  const int64_t down = rows * samples, across = columns * samples;
  if (regions > 0 && down * across > exported::kMostMade / regions)
    refuse("{} samples of {} regions", down * across, regions);
  const auto spread = [&](NodeId places, int axis) {
    const NodeId wide = call.broadcast(call.unsqueeze(places, axis), {regions, down, across});
    return call.reshape(wide, Shape{regions, down * across});
  };
  const auto far = [&](NodeId p, int64_t extent) {
    return of.both(call.binary(BinaryKind::ge, p, of.number(-1)),
                   call.binary(BinaryKind::le, p, of.number(static_cast<double>(extent))));
  };
  const std::vector<Line> lines{{s[2], spread(y, 2)}, {s[3], spread(xs, 1)}};
  const NodeId valid = of.both(far(lines[0].place, s[2]), far(lines[1].place, s[3]));
  const Sampler sampler{of, Padding::border, true};
  const NodeId batch = call.gather(x, call.cast(call[2], DType::i64), 0);
  NodeId values = sampled(sampler, batch, lines, "linear");
  values = call.select(call.unsqueeze(valid, 1), values, of.number(0));
  values = call.reshape(values, Shape{regions, s[1], rows, samples, columns, samples});
  return {call.cast(call.reduce(ReduceKind::mean, values, {3, 5}, false), call.dtype(x))};
}

}  // namespace rung::onnx::operators

// Reads images between their elements: each result is a sum of neighbours by their shares.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/sampling.hpp"

#include <algorithm>

namespace rung::exported {
namespace {

// Arithmetic of nodes, for formulas of several terms; numbers are f32.
struct Numbers {
  const Emit& emit;
  NodeId add(NodeId a, NodeId b) const { return emit.binary(BinaryKind::add, a, b); }
  NodeId sub(NodeId a, NodeId b) const { return emit.binary(BinaryKind::sub, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return emit.binary(BinaryKind::mul, a, b); }
  NodeId number(double value) const { return emit.scalar(value, DType::f32); }
  NodeId plus(NodeId a, double value) const { return add(a, number(value)); }
  NodeId times(NodeId a, double value) const { return mul(a, number(value)); }
  NodeId floor(NodeId a) const { return emit.rounded(a, Rounding::down); }
  NodeId both(NodeId a, NodeId b) const { return emit.binary(BinaryKind::logical_and, a, b); }
};

// One axis that is read: its extent, and where each result stands in it, f32 [N,P].
struct Line {
  int64_t extent;
  NodeId place;
};

struct Sampler {
  Numbers of;
  Outside outside;
  bool corners;
  bool rounds_first = false;

  // Places beyond the ends turn back at them: at the outer elements' centres, or half an element outside.
  NodeId reflected(NodeId x, int64_t extent) const {
    const double low = corners ? 0 : -0.5, range = static_cast<double>(extent) - (corners ? 1 : 0);
    if (range == 0) return of.times(x, 0);
    const NodeId away = of.emit.unary(UnaryKind::abs, of.plus(x, -low));
    const NodeId rest = of.emit.add(Formula{FormulaKind::fmod}, {away, of.number(2 * range)});
    const NodeId back = of.sub(of.number(2 * range), rest);
    const NodeId far = of.emit.binary(BinaryKind::gt, rest, of.number(range));
    return of.plus(of.emit.select(far, back, rest), low);
  }
  NodeId inside(NodeId x, int64_t extent) const { return of.emit.clamp(x, 0, static_cast<double>(extent - 1)); }

  // Brings a place back into the image where something but zeros stands around it.
  NodeId settled(NodeId x, int64_t extent) const {
    if (outside == Outside::zeros) return x;
    return inside(outside == Outside::border ? x : reflected(x, extent), extent);
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

std::vector<Tap> taps_of(const Sampler& s, const Line& line, Between mode) {
  const Numbers& of = s.of;
  if (mode == Between::nearest) {
    const auto near = [&](NodeId place) { return of.emit.rounded(place, Rounding::nearest_even); };
    const NodeId index = near(s.settled(s.rounds_first ? near(line.place) : line.place, line.extent));
    return {{index, of.emit.broadcast(of.number(1), of.emit.shape(index))}};
  }
  const bool cubic = mode == Between::cubic;
  const NodeId place = cubic ? line.place : s.settled(line.place, line.extent);
  const NodeId first = of.floor(place), rest = of.sub(place, first);
  if (!cubic) return {{first, of.sub(of.number(1), rest)}, {of.plus(first, 1), rest}};
  const auto weights = cubic_weights(of, rest);
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) {
    const NodeId index = of.plus(first, i - 1);
    const NodeId back = s.settled(index, line.extent);
    taps.push_back({s.outside == Outside::reflection ? of.emit.rounded(back, Rounding::to_zero) : back,
                    weights[static_cast<size_t>(i)]});
  }
  return taps;
}

// Sums the products of values and shares over all neighbours, axis by axis. x: [N elements,C], whose rows are gathered:
// a neighbour is found once for all channels. first: i64 [R,1], the first row of each image; places: f32 [R,P].
struct Gathering {
  const Sampler& sampler;
  NodeId x, first;
  const std::vector<Line>& lines;
  const std::vector<std::vector<Tap>>& taps;

  // `flat`: the place so far, `share`: the product of shares, and `valid`: where all indices are inside; none: all are.
  NodeId sum(size_t axis, std::optional<NodeId> flat, std::optional<NodeId> share, std::optional<NodeId> valid) const {
    const Numbers& of = sampler.of;
    const Emit& emit = of.emit;
    if (axis == lines.size()) {
      const NodeId row = of.add(emit.cast(*flat, DType::i64), first);
      const NodeId value = emit.cast(emit.add(Gather{0}, {x, row}), DType::f32);
      const NodeId shared = of.mul(value, emit.unsqueeze(*share, 2));
      return valid ? emit.select(emit.unsqueeze(*valid, 2), shared, of.number(0)) : shared;
    }
    std::optional<NodeId> total;
    const int64_t extent = lines[axis].extent;
    for (const Tap& tap : taps[axis]) {
      const NodeId index = sampler.inside(tap.index, extent);
      const NodeId at = flat ? of.add(of.times(*flat, static_cast<double>(extent)), index) : index;
      std::optional<NodeId> inside = valid;
      if (sampler.outside == Outside::zeros) {
        const NodeId is_inside = emit.binary(BinaryKind::eq, index, tap.index);
        inside = valid ? of.both(*valid, is_inside) : is_inside;
      }
      const NodeId part = sum(axis + 1, at, share ? of.mul(*share, tap.weight) : tap.weight, inside);
      total = total ? of.add(*total, part) : part;
    }
    return *total;
  }
};

// x: [N,C,spatial...], lines: f32 [R,P] each, images: i64 [R,1], of which image each row is; [R,P,C] in f32.
NodeId sampled(const Sampler& s, NodeId x, NodeId images, const std::vector<Line>& lines, Between mode) {
  std::vector<std::vector<Tap>> taps;
  for (const Line& line : lines) taps.push_back(taps_of(s, line, mode));
  const Shape shape = s.of.emit.shape(x);
  constexpr int64_t kMostPlaces = 1 << 24;  // f32, in which places are computed, holds every number up to here
  int64_t places = 1;
  for (const Line& line : lines) {
    if (line.extent > kMostPlaces / std::max<int64_t>(places, 1))
      refuse("an image of more than {} places", kMostPlaces);
    places *= line.extent;
  }
  const Emit& emit = s.of.emit;
  const NodeId rows = emit.swap_axes(emit.reshape(x, Shape{shape[0], shape[1], places}), 1, 2);
  const NodeId first = s.of.mul(images, emit.scalar(static_cast<double>(places), DType::i64));
  return Gathering{s, emit.reshape(rows, Shape{shape[0] * places, shape[1]}), first, lines, taps}.sum(0, {}, {}, {});
}

}  // namespace

NodeId grid_sample(const Emit& emit, const GridSample& how) {
  const NodeId x = how.x, grid = how.grid;
  const int axes = emit.rank(x) - 2;
  const Shape g = emit.shape(grid), s = emit.shape(x);
  if (axes < 1 || g.rank() != axes + 2 || g.back() != axes || g[0] != s[0])
    refuse("a grid of {} for {}", emit.type(grid), emit.type(x));
  const Numbers of{emit};
  const Sampler sampler{of, how.outside, how.corners, how.rounds_first};
  const NodeId points = emit.cast(emit.reshape(grid, std::vector<int64_t>{s[0], -1, axes}), DType::f32);
  std::vector<Line> lines;
  for (int i = 0; i < axes; ++i) {
    const int64_t extent = s[2 + i];
    const NodeId n = of.plus(emit.select_index(points, -1, axes - 1 - i), 1);
    const double scale = static_cast<double>(how.corners ? extent - 1 : extent) / 2;
    lines.push_back({extent, how.corners ? of.times(n, scale) : of.plus(of.times(n, scale), -0.5)});
  }
  Shape to{s[0], s[1]};
  for (int i = 1; i <= axes; ++i) to.push_back(g[i]);
  const NodeId y = emit.cast(sampled(sampler, x, emit.counted(s[0], 0, 2), lines, how.between), emit.dtype(x));
  return emit.reshape(emit.swap_axes(y, 1, 2), to);
}

NodeId affine_grid(const Emit& emit, NodeId matrices, const std::vector<int64_t>& size, bool corners) {
  const int axes = static_cast<int>(size.size()) - 2;
  if (axes < 1 || axes > 3 || emit.rank(matrices) != 3 || emit.shape(matrices)[1] != axes ||
      emit.shape(matrices)[2] != axes + 1)
    refuse("matrices of {} for {} sizes", emit.type(matrices), size.size());
  Shape spatial;
  for (int i = 0; i < axes; ++i) spatial.push_back(size[static_cast<size_t>(i) + 2]);
  for (const int64_t extent : spatial)
    if (extent < 1 || extent > kMostMade / 64) refuse("a size of {}", extent);
  const int64_t points = spatial.product();
  if (points > kMostMade / 8) refuse("a grid of {}", spatial);
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
  const NodeId y = emit.matmul(emit.literal(table), emit.swap_axes(emit.cast(matrices, DType::f32), 1, 2));
  Shape to{emit.shape(matrices)[0]};
  for (const int64_t extent : spatial) to.push_back(extent);
  to.push_back(axes);
  return emit.cast(emit.reshape(y, to), emit.dtype(matrices));
}

NodeId region_align(const Emit& emit, const RegionAlign& how) {
  const NodeId x = how.x;
  const Shape s = emit.shape(x);
  const int64_t rows = how.rows, columns = how.columns, samples = how.samples;
  if (s.rank() != 4 || emit.rank(how.regions) != 2 || emit.shape(how.regions)[1] != 4)
    refuse("regions of {} in {}", emit.type(how.regions), emit.type(x));
  if (samples < 1 || samples > 64 || rows < 1 || columns < 1 || rows > 4096 || columns > 4096)
    refuse("{} samples for each of {} by {} cells, wanted a sampling_ratio of 1 to 64", samples, rows, columns);
  const Numbers of{emit};
  const int64_t regions = emit.shape(how.regions)[0];
  const auto edge = [&](int64_t i) {
    return of.plus(of.times(emit.cast(emit.slice(how.regions, 1, i, i + 1), DType::f32), how.scale),
                   how.half ? -0.5 : 0);
  };
  const auto line = [&](int64_t axis, int64_t cells) {  // f32 [R, cells samples]
    const NodeId begin = edge(1 - axis), end = edge(3 - axis);
    NodeId width = of.sub(end, begin);
    if (!how.half) width = emit.binary(BinaryKind::max, width, of.number(1));
    Tensor steps({DType::f32, {1, cells * samples}});
    for (int64_t i = 0; i < cells * samples; ++i)
      steps.as<float>()[static_cast<size_t>(i)] =
          static_cast<float>((static_cast<double>(i) + 0.5) / static_cast<double>(cells * samples));
    return of.add(begin, of.mul(width, emit.literal(steps)));
  };
  const NodeId y = line(0, rows), xs = line(1, columns);
  const int64_t down = rows * samples, across = columns * samples;
  if (regions > 0 && down * across > kMostMade / regions) refuse("{} samples of {} regions", down * across, regions);
  const auto spread = [&](NodeId places, int axis) {
    const NodeId wide = emit.broadcast(emit.unsqueeze(places, axis), {regions, down, across});
    return emit.reshape(wide, Shape{regions, down * across});
  };
  const auto far = [&](NodeId p, int64_t extent) {
    return of.both(emit.binary(BinaryKind::ge, p, of.number(-1)),
                   emit.binary(BinaryKind::le, p, of.number(static_cast<double>(extent))));
  };
  const std::vector<Line> lines{{s[2], spread(y, 2)}, {s[3], spread(xs, 1)}};
  const NodeId valid = of.both(far(lines[0].place, s[2]), far(lines[1].place, s[3]));
  const Sampler sampler{of, Outside::border, true};
  const NodeId images = emit.unsqueeze(emit.counted_from_front(emit.cast(how.images, DType::i64), s[0]), 1);
  NodeId values = sampled(sampler, x, images, lines, Between::linear);
  values = emit.select(emit.unsqueeze(valid, 2), values, of.number(0));
  values = emit.reshape(values, Shape{regions, rows, samples, columns, samples, s[1]});
  const NodeId means = emit.cast(emit.reduce(ReduceKind::mean, values, {2, 4}, false), emit.dtype(x));
  return emit.transpose(means, {0, 3, 1, 2});
}

namespace {

struct Kernel {
  int64_t down, right, rows, columns;  // its elements, and the places where it is put
  int64_t elements() const { return down * right; }
  int64_t places() const { return rows * columns; }
};

Kernel kernel_of(const Emit& emit, const DeformableConvolution& how) {
  const Shape x = emit.shape(how.x), w = emit.shape(how.weight), o = emit.shape(how.offset);
  const auto divides = [](int64_t parts, int64_t whole) { return parts > 0 && whole % parts == 0; };
  if (x.rank() != 4 || w.rank() != 4 || o.rank() != 4 || !divides(how.groups, x[1]) || !divides(how.parts, x[1]) ||
      !divides(how.groups, w[0]) || w[1] != x[1] / how.groups || o[0] != x[0] || o[1] != how.parts * w[2] * w[3] * 2)
    refuse("a deformable convolution of {} with {} and offsets of {}", emit.type(how.x), emit.type(how.weight),
           emit.type(how.offset));
  const Kernel kernel{w[2], w[3], o[2], o[3]};
  if (how.mask && emit.shape(*how.mask) != Shape{o[0], o[1] / 2, o[2], o[3]})
    refuse("a mask of {} beside offsets of {}", emit.type(*how.mask), emit.type(how.offset));
  if (kernel.places() > 0 && kernel.elements() > kMostMade / kernel.places())
    refuse("{} elements at {} places", kernel.elements(), kernel.places());
  return kernel;
}

// Where the kernel's elements stand along an axis without offsets, f32 [elements, places].
NodeId standing(const Emit& emit, const DeformableConvolution& how, const Kernel& kernel, size_t axis) {
  Tensor table({DType::f32, {kernel.elements(), kernel.places()}});
  auto values = table.as<float>();
  for (int64_t k = 0; k < kernel.elements(); ++k)
    for (int64_t p = 0; p < kernel.places(); ++p) {
      const int64_t element = axis == 0 ? k / kernel.right : k % kernel.right;
      const int64_t place = axis == 0 ? p / kernel.columns : p % kernel.columns;
      values[static_cast<size_t>(k * kernel.places() + p)] = static_cast<float>(
          static_cast<double>(place) * static_cast<double>(how.stride[axis]) - static_cast<double>(how.before[axis]) +
          static_cast<double>(element) * static_cast<double>(how.dilation[axis]));
    }
  return emit.literal(table);
}

}  // namespace

NodeId deformable_convolution(const Emit& emit, const DeformableConvolution& how) {
  const Kernel kernel = kernel_of(emit, how);
  const Shape x = emit.shape(how.x), w = emit.shape(how.weight);
  const int64_t images = x[0] * how.parts, shared = x[1] / how.parts;  // channels that share offsets are an image
  const Numbers of{emit};
  const NodeId offsets =
      emit.cast(emit.reshape(how.offset, Shape{images, kernel.elements(), 2, kernel.places()}), DType::f32);
  std::vector<Line> lines;
  for (size_t axis = 0; axis < 2; ++axis) {
    const NodeId place =
        of.add(emit.select_index(offsets, 2, static_cast<int64_t>(axis)), standing(emit, how, kernel, axis));
    lines.push_back(
        {x[2 + static_cast<int>(axis)], emit.reshape(place, Shape{images, kernel.elements() * kernel.places()})});
  }
  const NodeId parts = emit.reshape(how.x, Shape{images, shared, x[2], x[3]});
  NodeId read = sampled(Sampler{of, Outside::zeros, true}, parts, emit.counted(images, 0, 2), lines, Between::linear);
  if (how.mask)
    read = of.mul(
        read, emit.cast(emit.reshape(*how.mask, Shape{images, kernel.elements() * kernel.places(), 1}), DType::f32));
  // [B parts, elements places, shared] becomes [B,groups,C/groups elements,places], as the weights have them.
  read = emit.reshape(read, Shape{x[0], how.parts, kernel.elements(), kernel.places(), shared});
  read = emit.reshape(emit.transpose(read, Dims{0, 1, 4, 2, 3}),
                      Shape{x[0], how.groups, w[1] * kernel.elements(), kernel.places()});
  const NodeId weight = emit.reshape(how.weight, Shape{1, how.groups, w[0] / how.groups, w[1] * kernel.elements()});
  const NodeId y = emit.matmul(weight, emit.cast(read, emit.dtype(how.weight)));
  const NodeId out = emit.reshape(y, Shape{x[0], w[0], kernel.rows, kernel.columns});
  return how.bias ? of.add(out, emit.reshape(*how.bias, Shape{1, w[0], 1, 1})) : out;
}

}  // namespace rung::exported

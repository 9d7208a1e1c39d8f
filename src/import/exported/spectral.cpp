// Computes transforms as products with tables, which kernels are fast at: in one step by their definition, or long ones
// in two, by the factors of their number of points.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace rung::exported {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// The cosine of `part` of `of` turns. Where angles mirror each other the values do, to the last bit, and quarter turns
// give 0.
double cosine(int64_t part, int64_t of) {
  part %= of;
  part = std::min(part, of - part);
  const bool is_left = 4 * part > of;
  const int64_t of_quarter = is_left ? 2 * of - 4 * part : 4 * part;  // of a quarter turn, in `of` parts
  const auto angle = [of](int64_t parts) { return kTurn * static_cast<double>(parts) / (4 * static_cast<double>(of)); };
  const double value = 2 * of_quarter > of ? std::sin(angle(of - of_quarter)) : std::cos(angle(of_quarter));
  return is_left ? -value : value;
}
double sine(int64_t part, int64_t of) { return cosine(4 * part + 3 * of, 4 * of); }

// Two tables of one shape: cosines, and sines.
struct Waves {
  NodeId cosines, sines;
};
// The i-th row and the j-th column have share(i) times those of i j of `points` parts of a turn.
Waves waves(const Emit& emit, int64_t points, const Shape& size, const std::function<double(int64_t)>& share) {
  if (size[0] > 0 && size[1] > kMostMade / size[0]) refuse("a table of {} by {}", size[0], size[1]);
  Tensor cosines({DType::f32, size}), sines({DType::f32, size});
  for (int64_t i = 0; i < size[0]; ++i)
    for (int64_t j = 0; j < size[1]; ++j) {
      const auto at = static_cast<size_t>(i * size[1] + j);
      cosines.as<float>()[at] = static_cast<float>(share(i) * cosine(i * j % points, points));
      sines.as<float>()[at] = static_cast<float>(share(i) * sine(i * j % points, points));
    }
  return {emit.literal(cosines), emit.literal(sines)};
}
Waves waves(const Emit& emit, int64_t points, const Shape& size) {
  return waves(emit, points, size, [](int64_t) { return 1.0; });
}

// x with `axis` as its last one, of this extent and in f32.
NodeId fitted(const Emit& emit, NodeId x, int64_t axis, int64_t extent) {
  const NodeId last = emit.swap_axes(x, axis, -1);
  const int64_t have = emit.shape(last).back();
  return emit.cast(have > extent ? emit.slice(last, -1, 0, extent) : emit.padded(last, -1, 0, extent - have, 0),
                   DType::f32);
}

void want_points(int64_t points) {
  if (points < 1 || points > kMostMade) refuse("a transform of {} points, wanted 1 to {}", points, kMostMade);
}

Complex each(const Complex& x, const std::function<NodeId(NodeId)>& f) {
  return {f(x.real), x.imaginary ? std::optional(f(*x.imaginary)) : std::nullopt};
}

// x times numbers of length 1 whose angles are positive in an inverse transform, and negative otherwise.
Complex turned(const Emit& emit, const Complex& x, bool inverse, const Waves& by,
               const std::function<NodeId(NodeId, NodeId)>& times) {
  const NodeId a = times(x.real, by.cosines), b = times(x.real, by.sines);
  if (!x.imaginary) return {a, inverse ? b : emit.unary(UnaryKind::neg, b)};
  const NodeId c = times(*x.imaginary, by.cosines), d = times(*x.imaginary, by.sines);
  return {emit.binary(inverse ? BinaryKind::sub : BinaryKind::add, a, d),
          emit.binary(inverse ? BinaryKind::add : BinaryKind::sub, c, b)};
}

// The factor of a number of points that is nearest to its root from below; 1: the transform takes one step. Short ones
// do: they are not worth the launches of two.
int64_t first_factor(int64_t points, int rank) {
  constexpr int64_t kLeastPoints = 256, kLeastFactor = 8;
  if (points < kLeastPoints || rank == Dims::kMaxRank) return 1;
  auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(points)));
  while (points % factor) --factor;
  return factor < kLeastFactor ? 1 : factor;
}

// Transforms of `first` points each, `second` steps apart, are turned and transformed into each other: of element
// i second + j a number a + b first takes the turns i a / first + j a / points + j b / second. x: [..., points].
Complex in_two_steps(const Emit& emit, const Complex& x, const Transform& how, int64_t first) {
  const int64_t second = how.points / first, rows = (how.results + first - 1) / first;
  const auto split = [&](NodeId part) {
    Shape apart = emit.shape(part);
    apart[apart.rank() - 1] = first;
    apart.push_back(second);
    return emit.swap_axes(emit.reshape(part, apart), -1, -2);
  };
  const auto joined = [&](NodeId part) {
    Shape whole = emit.shape(part);
    whole.erase(whole.rank() - 1);
    whole[whole.rank() - 1] = rows * first;
    return emit.slice(emit.reshape(part, whole), -1, 0, how.results);
  };
  const auto behind = [&](NodeId part, NodeId table) { return emit.matmul(part, table); };
  const auto before = [&](NodeId part, NodeId table) { return emit.matmul(table, part); };
  const auto beside = [&](NodeId part, NodeId table) { return emit.binary(BinaryKind::mul, part, table); };
  const Complex near = turned(emit, each(x, split), how.inverse, waves(emit, first, {first, first}), behind);
  const Complex between = turned(emit, near, how.inverse, waves(emit, how.points, {second, first}), beside);
  return each(turned(emit, between, how.inverse, waves(emit, second, {rows, second}), before), joined);
}

Complex scaled(const Emit& emit, const Complex& x, double scale) {
  return scale == 1 ? x : each(x, [&](NodeId part) { return emit.scale(part, scale); });
}

}  // namespace

Complex transformed(const Emit& emit, const Complex& x, int64_t axis, const Transform& how) {
  want_points(how.points);
  const Complex last = each(x, [&](NodeId part) { return fitted(emit, part, axis, how.points); });
  const int64_t first = first_factor(how.points, emit.rank(last.real));
  const auto times = [&](NodeId part, NodeId table) { return emit.matmul(part, table); };
  const Complex y = first > 1
                        ? in_two_steps(emit, last, how, first)
                        : turned(emit, last, how.inverse, waves(emit, how.points, {how.points, how.results}), times);
  return each(scaled(emit, y, how.scale), [&](NodeId part) { return emit.swap_axes(part, axis, -1); });
}

NodeId signal_of_half(const Emit& emit, const Complex& x, int64_t axis, int64_t points, double scale) {
  want_points(points);
  const int64_t bins = points / 2 + 1;
  // A number that has a conjugate among those that are left out counts twice.
  const auto share = [&](int64_t bin) { return bin == 0 || 2 * bin == points ? 1.0 : 2.0; };
  Complex half = each(x, [&](NodeId part) { return fitted(emit, part, axis, bins); });
  NodeId y;
  if (const int64_t first = first_factor(points, emit.rank(half.real)); first > 1) {
    Tensor shares({DType::f32, {bins}});
    for (int64_t i = 0; i < bins; ++i) shares.as<float>()[static_cast<size_t>(i)] = static_cast<float>(share(i));
    const NodeId counts = emit.literal(shares);
    half = each(half, [&](NodeId part) {
      return emit.padded(emit.binary(BinaryKind::mul, part, counts), -1, 0, points - bins, 0);
    });
    y = in_two_steps(emit, half, {.points = points, .results = points, .inverse = true}, first).real;
  } else {
    const Waves by = waves(emit, points, {bins, points}, share);
    y = emit.matmul(half.real, by.cosines);
    if (half.imaginary) y = emit.binary(BinaryKind::sub, y, emit.matmul(*half.imaginary, by.sines));
  }
  return emit.swap_axes(scale == 1 ? y : emit.scale(y, scale), axis, -1);
}

NodeId framed(const Emit& emit, NodeId x, int64_t axis, int64_t points, int64_t step) {
  const int64_t extent = emit.shape(x)[emit.axis(x, axis)];
  if (points < 1 || points > extent || step < 1)
    refuse("windows of {} in steps of {} over an axis of {}", points, step, extent);
  const int64_t frames = (extent - points) / step + 1;
  if (frames > kMostMade / points) refuse("{} windows of {}", frames, points);
  Tensor places({DType::i64, {frames, points}});
  for (int64_t i = 0; i < frames * points; ++i)
    places.as<int64_t>()[static_cast<size_t>(i)] = i / points * step + i % points;
  return emit.gather(x, emit.literal(places), axis);
}

Tensor window_of(int64_t size, bool periodic, const Cosines& of) {
  if (size < 0 || size > kMostMade) refuse("a window of {}", size);
  const auto places = static_cast<double>(periodic ? size : size - 1);
  Tensor values({DType::f32, {size}});
  for (int64_t i = 0; i < size; ++i) {
    const double at = places == 0 ? 0 : kTurn * static_cast<double>(i) / places;
    values.as<float>()[static_cast<size_t>(i)] =
        static_cast<float>(of.a - of.b * std::cos(at) + of.c * std::cos(2 * at));
  }
  return values;
}

}  // namespace rung::exported

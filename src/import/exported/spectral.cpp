// Computes transforms by their definition, as sums of products: each is a matrix product that kernels are fast at.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/spectral.hpp"

#include <cmath>
#include <numbers>

namespace rung::exported {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// value(i, 2 pi i j / points), f32 [rows, columns].
template <class Value>
NodeId waves(const Emit& emit, int64_t points, const Shape& size, Value value) {
  if (size[0] > 0 && size[1] > kMostMade / size[0]) refuse("a table of {} by {}", size[0], size[1]);
  Tensor table({DType::f32, size});
  for (int64_t i = 0; i < size[0]; ++i)
    for (int64_t j = 0; j < size[1]; ++j)
      table.as<float>()[static_cast<size_t>(i * size[1] + j)] =
          static_cast<float>(value(i, kTurn * static_cast<double>(i * j % points) / static_cast<double>(points)));
  return emit.literal(table);
}

// x with `axis` as its last one, of this extent and in f32.
NodeId fitted(const Emit& emit, NodeId x, int64_t axis, int64_t extent) {
  const NodeId last = emit.swap_axes(x, axis, -1);
  const int64_t have = emit.shape(last).back();
  return emit.cast(have > extent ? emit.slice(last, -1, 0, extent) : emit.padded(last, -1, 0, extent - have, 0),
                   DType::f32);
}

}  // namespace

Complex transformed(const Emit& emit, const Complex& x, int64_t axis, const Transform& how) {
  if (how.points < 1) refuse("a transform of {} points", how.points);
  const Shape size{how.points, how.results};
  const NodeId c = waves(emit, how.points, size, [&](int64_t, double angle) { return how.scale * std::cos(angle); });
  const NodeId s = waves(emit, how.points, size, [&](int64_t, double angle) { return how.scale * std::sin(angle); });
  const NodeId real = fitted(emit, x.real, axis, how.points);
  const NodeId a = emit.matmul(real, c), b = emit.matmul(real, s);
  Complex y{a, how.inverse ? b : emit.unary(UnaryKind::neg, b)};
  if (x.imaginary) {
    const NodeId imaginary = fitted(emit, *x.imaginary, axis, how.points);
    y = {emit.binary(how.inverse ? BinaryKind::sub : BinaryKind::add, a, emit.matmul(imaginary, s)),
         emit.binary(BinaryKind::add, *y.imaginary, emit.matmul(imaginary, c))};
  }
  return {emit.swap_axes(y.real, axis, -1), emit.swap_axes(*y.imaginary, axis, -1)};
}

NodeId signal_of_half(const Emit& emit, const Complex& x, int64_t axis, int64_t points, double scale) {
  if (points < 1) refuse("a transform of {} points", points);
  const int64_t bins = points / 2 + 1;
  // A number that has a conjugate among those that are left out counts twice.
  const auto share = [&](int64_t bin) { return bin == 0 || 2 * bin == points ? scale : 2 * scale; };
  const auto cosines = [&](int64_t bin, double angle) { return share(bin) * std::cos(angle); };
  const auto sines = [&](int64_t bin, double angle) { return share(bin) * std::sin(angle); };
  const Shape size{bins, points};
  const NodeId c = waves(emit, points, size, cosines), s = waves(emit, points, size, sines);
  NodeId y = emit.matmul(fitted(emit, x.real, axis, bins), c);
  if (x.imaginary) y = emit.binary(BinaryKind::sub, y, emit.matmul(fitted(emit, *x.imaginary, axis, bins), s));
  return emit.swap_axes(y, axis, -1);
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

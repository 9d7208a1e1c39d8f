// Operators of ONNX graphs on spectra: discrete Fourier transforms as products with tables, windows, and mel filters.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

constexpr double kTurn = 2 * std::numbers::pi;

int64_t integer_in(const Call& call, size_t input, const char* what, int64_t most) {
  const auto values = call.integers(call[input], what);
  if (values.size() != 1 || values[0] < 1 || values[0] > most) refuse("{}: wanted one number of 1 to {}", what, most);
  return values[0];
}
double number_in(const Call& call, size_t input, const char* what) {
  const auto value = call.value_of(call[input]);
  if (!value || value->elements() != 1) refuse("{} depends on the values of an input", what);
  return static_cast<double>(convert(*value, DType::f32).as<float>()[0]);
}

// cos or sin of 2 pi i j / n, [rows, columns].
NodeId waves(const Call& call, int64_t rows, int64_t columns, int64_t n, double (*wave)(double)) {
  if (rows > 0 && columns > exported::kMostMade / rows) refuse("a table of {} by {}", rows, columns);
  Tensor table({DType::f32, {rows, columns}});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      table.as<float>()[static_cast<size_t>(i * columns + j)] =
          static_cast<float>(wave(kTurn * static_cast<double>(i * j % n) / static_cast<double>(n)));
  return call.literal(table);
}
double cosine(double x) { return std::cos(x); }
double sine(double x) { return std::sin(x); }

struct Complex {
  NodeId real;
  std::optional<NodeId> imaginary;  // none: 0
};

struct Transform {
  int64_t points, results;
  bool inverse;
};

// Along the last axis, whose elements are cut or followed by zeros to as many as the transform has.
Complex transformed(const Call& call, Complex x, const Transform& t) {
  const auto fit = [&](NodeId y) {
    const int64_t extent = call.shape(y).back();
    return extent > t.points ? call.slice(y, -1, 0, t.points) : call.padded(y, -1, 0, t.points - extent, 0);
  };
  const NodeId c = waves(call, t.points, t.results, t.points, cosine);
  const NodeId s = waves(call, t.points, t.results, t.points, sine);
  const auto wide = [&](NodeId y) { return call.cast(fit(y), DType::f32); };
  const NodeId real = wide(x.real), a = call.matmul(real, c), b = call.matmul(real, s);
  Complex y{a, t.inverse ? b : call.unary(UnaryKind::neg, b)};
  if (x.imaginary) {
    const NodeId imaginary = wide(*x.imaginary), d = call.matmul(imaginary, s), e = call.matmul(imaginary, c);
    y = {call.binary(t.inverse ? BinaryKind::sub : BinaryKind::add, y.real, d),
         call.binary(BinaryKind::add, *y.imaginary, e)};
  }
  if (!t.inverse) return y;
  const double share = 1 / static_cast<double>(t.points);
  return {call.scale(y.real, share), call.scale(*y.imaginary, share)};
}

// The parts of [...,1] or [...,2].
Complex parts_of(const Call& call, NodeId x) {
  const int64_t parts = call.rank(x) < 2 ? 0 : call.shape(x).back();
  if (parts != 1 && parts != 2) refuse("{}, wanted a last axis of one part or two", call.type(x));
  return {call.select_index(x, -1, 0), parts == 2 ? std::optional(call.select_index(x, -1, 1)) : std::nullopt};
}
NodeId joined(const Call& call, const Complex& x, DType type) {
  return call.cast(call.concat({call.unsqueeze(x.real, -1), call.unsqueeze(*x.imaginary, -1)}, -1), type);
}

// One half of a spectrum with the other, whose numbers are the conjugates.
Complex mirrored(const Call& call, const Complex& x, int64_t points) {
  const int64_t have = points / 2 + 1;
  const auto reversed = [&](NodeId y) {
    std::vector<int64_t> places;
    for (int64_t i = points - have; i >= 1; --i) places.push_back(i);
    const Tensor list = Tensor::of<int64_t>({static_cast<int64_t>(places.size())}, places);
    return call.add(Gather{call.rank(y) - 1}, {y, call.literal(list)});
  };
  const auto fit = [&](NodeId y) {
    const int64_t extent = call.shape(y).back();
    return extent > have ? call.slice(y, -1, 0, have) : call.padded(y, -1, 0, have - extent, 0);
  };
  const NodeId real = fit(x.real), imaginary = fit(*x.imaginary);
  return {call.concat({real, reversed(real)}, -1),
          call.concat({imaginary, call.unary(UnaryKind::neg, reversed(imaginary))}, -1)};
}

// A window: sums of cosines, as many points apart as it is long, or one less where it is not periodic.
Outputs window(const Call& call, double a, double b, double c) {
  const int64_t size = integer_in(call, 0, "the size", exported::kMostMade);
  const int64_t type = call.integer("output_datatype", 1);
  const double points = static_cast<double>(call.integer("periodic", 1) != 0 ? size : size - 1);
  Tensor values({DType::f32, {size}});
  for (int64_t i = 0; i < size; ++i) {
    const double at = points == 0 ? 0 : kTurn * static_cast<double>(i) / points;
    values.as<float>()[static_cast<size_t>(i)] = static_cast<float>(a - b * std::cos(at) + c * std::cos(2 * at));
  }
  return {converted(call, call.literal(values), type, true)};
}

}  // namespace

Outputs dft(const Call& call) {
  const NodeId x = call[0];
  const bool inverse = call.integer("inverse", 0) != 0, half = call.integer("onesided", 0) != 0;
  const int64_t given = call.has(2) ? call.integer_of(2) : call.integer("axis", call.version() < 20 ? 1 : -2);
  const int axis = call.axis(x, given);
  if (axis == call.rank(x) - 1) refuse("axis {} of {}, which has the parts of numbers", given, call.type(x));
  Complex parts = parts_of(call, x);
  const auto last = [&](NodeId y) { return call.swap_axes(y, axis, -1); };
  parts = {last(parts.real), parts.imaginary ? std::optional(last(*parts.imaginary)) : std::nullopt};
  const int64_t extent = call.shape(x)[axis];
  const bool mirrors = inverse && half;
  const int64_t points = call.has(1) ? integer_in(call, 1, "the length", 1 << 20) : mirrors ? 2 * (extent - 1) : extent;
  if (points < 1) refuse("a transform of {} points", points);
  if (mirrors && !parts.imaginary) refuse("half a spectrum of {}, wanted two parts", call.type(x));
  if (mirrors) parts = mirrored(call, parts, points);
  const Complex y = transformed(call, parts, {points, half && !inverse ? points / 2 + 1 : points, inverse});
  const auto back = [&](NodeId z) { return call.swap_axes(z, axis, -1); };
  if (mirrors) return {call.cast(call.unsqueeze(back(y.real), -1), call.dtype(x))};
  return {joined(call, {back(y.real), back(*y.imaginary)}, call.dtype(x))};
}

// Frames of a signal [B,T,1 or 2] that begin a step apart, each times the window, and their transforms: [B,F,N,2].
Outputs stft(const Call& call) {
  const NodeId x = call[0];
  const Complex signal = parts_of(call, call.rank(x) == 2 ? call.unsqueeze(x, -1) : x);
  const int64_t extent = call.shape(signal.real).back();
  const int64_t step = integer_in(call, 1, "the step", exported::kMostMade);
  const int64_t points = call.has(3)   ? integer_in(call, 3, "the length", extent)
                         : call.has(2) ? call.shape(call[2]).back()
                                       : 0;
  if (points < 1 || points > extent) refuse("frames of {} in {}", points, call.type(x));
  const int64_t frames = (extent - points) / step + 1;
  if (frames > exported::kMostMade / points) refuse("{} frames of {}", frames, points);
  Tensor places({DType::i64, {frames, points}});
  for (int64_t i = 0; i < frames * points; ++i)
    places.as<int64_t>()[static_cast<size_t>(i)] = i / points * step + i % points;
  const auto framed = [&](NodeId y) {
    const NodeId parts = call.add(Gather{call.rank(y) - 1}, {y, call.literal(places)});
    return call.has(2) ? call.binary(BinaryKind::mul, parts, call[2]) : parts;
  };
  const Complex all{framed(signal.real), signal.imaginary ? std::optional(framed(*signal.imaginary)) : std::nullopt};
  const bool half = call.integer("onesided", 1) != 0 && !signal.imaginary;
  return {joined(call, transformed(call, all, {points, half ? points / 2 + 1 : points, false}), call.dtype(x))};
}

Outputs hann_window(const Call& call) { return window(call, 0.5, 0.5, 0); }
Outputs hamming_window(const Call& call) { return window(call, 25.0 / 46, 1 - 25.0 / 46, 0); }
Outputs blackman_window(const Call& call) { return window(call, 0.42, 0.5, 0.08); }

// Triangles over the bins of a spectrum, [bins, bands], whose corners lie evenly on the mel scale.
Outputs mel_weight_matrix(const Call& call) {
  const int64_t bands = integer_in(call, 0, "the number of bands", 1 << 16);
  const int64_t length = integer_in(call, 1, "the length", 1 << 20), rate = integer_in(call, 2, "the rate", 1 << 30);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(number_in(call, 3, "the lower edge")), high = mel(number_in(call, 4, "the upper edge"));
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    corners.push_back(static_cast<int64_t>(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  }
  const int64_t bins = length / 2 + 1;
  if (bins > exported::kMostMade / bands) refuse("a table of {} by {}", bins, bands);
  Tensor table({DType::f32, {bins, bands}});
  for (int64_t band = 0; band < bands; ++band) {
    const auto at = static_cast<size_t>(band);
    const int64_t first = corners[at], top = corners[at + 1], last = corners[at + 2];
    const auto set = [&](int64_t bin, double value) {
      if (bin >= 0 && bin < bins)
        table.as<float>()[static_cast<size_t>(bin * bands + band)] = static_cast<float>(value);
    };
    if (top == first) set(top, 1);
    for (int64_t bin = first; bin <= top && top > first; ++bin)
      set(bin, static_cast<double>(bin - first) / static_cast<double>(top - first));
    for (int64_t bin = top; bin < last; ++bin)
      set(bin, static_cast<double>(last - bin) / static_cast<double>(last - top));
  }
  return {converted(call, call.literal(table), call.integer("output_datatype", 1), true)};
}

}  // namespace rung::onnx::operators

// Operators of ONNX graphs on spectra: discrete Fourier transforms as products with tables, windows, and mel filters.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/exported/spectral.hpp"
#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::Complex;
using exported::refuse;

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

// The parts of [...,1] or [...,2].
Complex parts_of(const Call& call, NodeId x) {
  const int64_t parts = call.rank(x) < 2 ? 0 : call.shape(x).back();
  if (parts != 1 && parts != 2) refuse("{}, wanted a last axis of one part or two", call.type(x));
  return {call.select_index(x, -1, 0), parts == 2 ? std::optional(call.select_index(x, -1, 1)) : std::nullopt};
}
NodeId joined(const Call& call, const Complex& x, DType type) {
  return call.cast(call.concat({call.unsqueeze(x.real, -1), call.unsqueeze(*x.imaginary, -1)}, -1), type);
}

Outputs window(const Call& call, const exported::Cosines& of) {
  const int64_t size = integer_in(call, 0, "the size", exported::kMostMade);
  const Tensor values = exported::window_of(size, call.integer("periodic", 1) != 0, of);
  return {converted(call, call.literal(values), call.integer("output_datatype", 1), true)};
}

}  // namespace

Outputs dft(const Call& call) {
  const NodeId x = call[0];
  const bool inverse = call.integer("inverse", 0) != 0, half = call.integer("onesided", 0) != 0;
  const int64_t given = call.has(2) ? call.integer_of(2) : call.integer("axis", call.version() < 20 ? 1 : -2);
  const int axis = call.axis(x, given);
  if (axis == call.rank(x) - 1) refuse("axis {} of {}, which has the parts of numbers", given, call.type(x));
  const Complex parts = parts_of(call, x);
  const int64_t extent = call.shape(x)[axis];
  const bool mirrors = inverse && half;
  const int64_t points = call.has(1) ? integer_in(call, 1, "the length", 1 << 20) : mirrors ? 2 * (extent - 1) : extent;
  if (points < 1) refuse("a transform of {} points", points);
  const double scale = inverse ? 1 / static_cast<double>(points) : 1;
  if (mirrors) {
    if (!parts.imaginary) refuse("half a spectrum of {}, wanted two parts", call.type(x));
    const NodeId signal = exported::signal_of_half(call, parts, axis, points, scale);
    return {call.cast(call.unsqueeze(signal, -1), call.dtype(x))};
  }
  const exported::Transform how{points, half ? points / 2 + 1 : points, inverse, scale};
  return {joined(call, exported::transformed(call, parts, axis, how), call.dtype(x))};
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
  const auto framed = [&](NodeId y) {
    const NodeId parts = exported::framed(call, y, -1, points, step);
    return call.has(2) ? call.binary(BinaryKind::mul, parts, call[2]) : parts;
  };
  const Complex all{framed(signal.real), signal.imaginary ? std::optional(framed(*signal.imaginary)) : std::nullopt};
  const bool half = call.integer("onesided", 1) != 0 && !signal.imaginary;
  const exported::Transform how{points, half ? points / 2 + 1 : points};
  return {joined(call, exported::transformed(call, all, -1, how), call.dtype(x))};
}

Outputs hann_window(const Call& call) { return window(call, {0.5, 0.5, 0}); }
Outputs hamming_window(const Call& call) { return window(call, {25.0 / 46, 1 - 25.0 / 46, 0}); }
Outputs blackman_window(const Call& call) { return window(call, {0.42, 0.5, 0.08}); }

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

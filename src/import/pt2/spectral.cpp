// Operators of exported programs on spectra: Fourier transforms of axes and of frames, and windows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/pt2/complex.hpp"
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::Complex;
using exported::Cosines;
using exported::refuse;
using exported::Transform;

enum class Share : uint8_t { none, by_root, by_points };  // what a transform of n points is divided by: 1, sqrt(n), n

double scale_of(Share share, int64_t points) {
  if (share == Share::none) return 1;
  return 1 / (share == Share::by_root ? std::sqrt(static_cast<double>(points)) : static_cast<double>(points));
}

Share share_of(const Call& call, bool inverse) {
  const std::string norm = call.text("norm", "backward");
  if (norm == "ortho") return Share::by_root;
  if (norm != "backward" && norm != "forward") refuse("norm: got '{}', wanted 'forward', 'backward' or 'ortho'", norm);
  return (norm == "backward") == inverse ? Share::by_points : Share::none;
}

Share share_of_number(const Call& call) {
  const int64_t number = call.integer("normalization");
  if (number < 0 || number > 2) refuse("normalization: got {}, wanted 0, 1 or 2", number);
  return static_cast<Share>(number);
}

// One axis of a transform: of as many points as it has where none are given.
struct Axis {
  int64_t axis;
  std::optional<int64_t> points;
};

enum class Half : uint8_t { neither, result, input };  // of a spectrum that stands for its other half, too
struct Spectrum {
  bool inverse;
  Half half;  // along the last of the axes
  Share share;
};

Complex along(const Call& call, const Complex& x, const Axis& at, const Spectrum& of) {
  const int64_t points = at.points.value_or(call.shape(x.real)[call.axis(x.real, at.axis)]);
  const int64_t results = of.half == Half::result ? points / 2 + 1 : points;
  return exported::transformed(call, x, at.axis, {points, results, of.inverse, scale_of(of.share, points)});
}

// The axis of which one half stands for both comes first where half results, and last where half is given.
Values spectrum(const Call& call, const std::vector<Axis>& axes, const Spectrum& of) {
  if (axes.empty()) refuse("a transform along no axis");
  Complex x = complex_at(call, "self");
  if (of.half == Half::result && x.imaginary) refuse("half the spectrum of complex numbers, wanted real ones");
  const Spectrum whole{of.inverse, Half::neither, of.share};
  const Axis& last = axes.back();
  if (of.half != Half::input) x = along(call, x, last, of);
  for (size_t i = 0; i + 1 < axes.size(); ++i) x = along(call, x, axes[i], whole);
  if (of.half != Half::input) return {Value(x)};
  const int64_t have = call.shape(x.real)[call.axis(x.real, last.axis)], points = last.points.value_or(2 * (have - 1));
  return one(exported::signal_of_half(call, x, last.axis, points, scale_of(of.share, points)));
}

std::vector<Axis> only_axis(const Call& call) {
  return {{call.integer("dim", -1), call.has("n") ? std::optional(call.integer("n")) : std::nullopt}};
}

// "dim" and "s": the axes and their points; left out, the last axes, as many as points are given, or all.
std::vector<Axis> axes_of(const Call& call, std::vector<int64_t> left_out) {
  const auto points = call.integers("s", {});
  if (left_out.empty()) {
    const int rank = call.rank(complex_at(call, "self").real);
    left_out.resize(points.empty() ? static_cast<size_t>(rank) : points.size());
    std::iota(left_out.begin(), left_out.end(), -static_cast<int64_t>(left_out.size()));
  }
  const auto axes = call.integers("dim", std::move(left_out));
  if (!points.empty() && points.size() != axes.size()) refuse("got {} sizes for {} axes", points.size(), axes.size());
  std::vector<Axis> all;
  for (size_t i = 0; i < axes.size(); ++i)
    all.push_back({axes[i], points.empty() || points[i] == -1 ? std::nullopt : std::optional(points[i])});
  return all;
}

Values of_one(const Call& call, bool inverse, Half half) {
  return spectrum(call, only_axis(call), {inverse, half, share_of(call, inverse)});
}
Values of_two(const Call& call, bool inverse, Half half) {
  return spectrum(call, axes_of(call, {-2, -1}), {inverse, half, share_of(call, inverse)});
}
Values of_all(const Call& call, bool inverse, Half half) {
  return spectrum(call, axes_of(call, {}), {inverse, half, share_of(call, inverse)});
}

// Each axis of a spectrum with the number of no turns in its middle, or back at its begin.
Values shifted(const Call& call, bool back) {
  const Complex x = complex_at(call, "self");
  std::vector<int64_t> all(static_cast<size_t>(call.rank(x.real)));
  std::iota(all.begin(), all.end(), 0);
  const auto turned = [&](NodeId y) {
    for (const int64_t axis : call.integers("dim", all)) {
      const int64_t extent = call.shape(y)[call.axis(y, axis)], begin = back ? extent / 2 : extent - extent / 2;
      y = call.concat({call.Emit::slice(y, axis, begin, extent), call.Emit::slice(y, axis, 0, begin)}, axis);
    }
    return y;
  };
  const Complex y = each_part(x, turned);
  return y.imaginary ? Values{Value(y)} : one(y.real);
}

// ---- frames

struct Frames {
  int64_t points, step;
  NodeId window;  // f32 [points]
  double scale;   // of the numbers of a spectrum
};

Frames frames_of(const Call& call) {
  const int64_t points = call.integer("n_fft"), step = call.integer("hop_length", points / 4);
  const int64_t width = call.integer("win_length", points);
  if (points < 1 || points > exported::kMostMade || step < 1 || width < 1 || width > points)
    refuse("frames of {} in steps of {} with windows of {}", points, step, width);
  NodeId window = call.has("window") ? call.cast(call.tensor("window"), DType::f32)
                                     : call.broadcast(call.scalar(1, DType::f32), Shape{width});
  if (call.shape(window) != Shape{width}) refuse("a window of {}, wanted {} numbers", call.type(window), width);
  const int64_t before = (points - width) / 2;
  window = call.padded(window, 0, before, points - width - before, 0);
  return {points, step, window, call.flag("normalized") ? scale_of(Share::by_root, points) : 1};
}

// How often each place of a signal lies in a frame, by the squares of the window there, [results].
Tensor weights_of_places(const Call& call, const Frames& frames, int64_t count, int64_t begin, int64_t results) {
  const auto window = call.value_of(frames.window);
  if (!window) refuse("a window that depends on the values of an input, wanted one that is known at import");
  std::vector<double> sums(static_cast<size_t>(frames.points + frames.step * (count - 1)));
  for (int64_t i = 0; i < count * frames.points; ++i) {
    const double share = static_cast<double>(window->as<float>()[static_cast<size_t>(i % frames.points)]);
    sums[static_cast<size_t>(i / frames.points * frames.step + i % frames.points)] += share * share;
  }
  Tensor inverse({DType::f32, {results}});
  for (int64_t i = 0; i < results; ++i) {
    const double sum = sums[static_cast<size_t>(begin + i)];
    if (sum < 1e-11) refuse("windows that leave place {} of the signal out", i);
    inverse.as<float>()[static_cast<size_t>(i)] = static_cast<float>(1 / sum);
  }
  return inverse;
}

// The sums of frames [B,points,F] where they overlap, [B,T].
NodeId overlapped(const Call& call, NodeId frames, int64_t step) {
  const int64_t points = call.shape(frames)[1];
  if (points > exported::kMostMade / points) refuse("a table of {} by {}", points, points);
  Tensor places({DType::f32, {points, 1, points}});
  for (int64_t i = 0; i < points; ++i) places.as<float>()[static_cast<size_t>(i * points + i)] = 1;
  const NodeId sums = call.convolution(
      {.x = frames, .w = call.literal(places), .bias = {}, .windows = {.stride = {step}}, .transposed = true});
  return call.select_index(sums, 1, 0);
}

Values window(const Call& call, const Cosines& of) {
  const Tensor values = exported::window_of(call.integer("window_length"), call.flag("periodic", true), of);
  return one(call.cast(call.literal(values), call.dtype_argument("dtype").value_or(DType::f32)));
}

}  // namespace

Values fft(const Call& call) { return of_one(call, false, Half::neither); }
Values ifft(const Call& call) { return of_one(call, true, Half::neither); }
Values rfft(const Call& call) { return of_one(call, false, Half::result); }
Values irfft(const Call& call) { return of_one(call, true, Half::input); }
Values fft2(const Call& call) { return of_two(call, false, Half::neither); }
Values ifft2(const Call& call) { return of_two(call, true, Half::neither); }
Values rfft2(const Call& call) { return of_two(call, false, Half::result); }
Values irfft2(const Call& call) { return of_two(call, true, Half::input); }
Values fftn(const Call& call) { return of_all(call, false, Half::neither); }
Values ifftn(const Call& call) { return of_all(call, true, Half::neither); }
Values rfftn(const Call& call) { return of_all(call, false, Half::result); }
Values irfftn(const Call& call) { return of_all(call, true, Half::input); }
Values fftshift(const Call& call) { return shifted(call, false); }
Values ifftshift(const Call& call) { return shifted(call, true); }

// Decompositions write the transforms above as these three.
Values fft_of_real(const Call& call) {
  const Half half = call.flag("onesided") ? Half::result : Half::neither;
  return spectrum(call, axes_of(call, {}), {false, half, share_of_number(call)});
}
Values fft_of_complex(const Call& call) {
  return spectrum(call, axes_of(call, {}), {!call.flag("forward"), Half::neither, share_of_number(call)});
}
Values fft_to_real(const Call& call) {
  std::vector<Axis> axes = axes_of(call, {});
  if (!axes.empty()) axes.back().points = call.integer("last_dim_size");
  return spectrum(call, axes, {true, Half::input, share_of_number(call)});
}

// A signal [T] or [B,T] as the spectra of frames, [N,F] or [B,N,F].
Values stft(const Call& call) {
  const Complex x = complex_at(call, "self");
  const Frames frames = frames_of(call);
  if (call.rank(x.real) < 1 || call.rank(x.real) > 2) refuse("frames of {}, wanted [T] or [B,T]", call.type(x.real));
  if (call.flag("center")) refuse("center: got True, wanted a signal that is padded before");
  const auto windowed = [&](NodeId y) {
    return call.binary(BinaryKind::mul, exported::framed(call, y, -1, frames.points, frames.step), frames.window);
  };
  const bool half = call.flag("onesided", !x.imaginary);
  if (half && x.imaginary) refuse("half the spectrum of complex numbers, wanted real ones");
  const Transform how{frames.points, half ? frames.points / 2 + 1 : frames.points, false, frames.scale};
  const Complex y = each_part(exported::transformed(call, each_part(x, windowed), -1, how),
                              [&](NodeId part) { return call.swap_axes(part, -1, -2); });
  if (call.flag("return_complex")) return {Value(y)};
  return one(joined(call, y));
}

// The signal of such spectra: their frames overlap, and are divided by what their windows add up to.
Values istft(const Call& call) {
  const Complex given = complex_at(call, "self");
  const Complex x =
      call.rank(given.real) == 2 ? each_part(given, [&](NodeId part) { return call.unsqueeze(part, 0); }) : given;
  const Frames frames = frames_of(call);
  if (call.rank(x.real) != 3) refuse("frames of {}, wanted [N,F] or [B,N,F]", call.type(given.real));
  if (call.flag("return_complex")) refuse("return_complex: got True, wanted a signal of real numbers");
  const int64_t bins = call.shape(x.real)[1], count = call.shape(x.real)[2], points = frames.points;
  const bool half = call.flag("onesided", bins != points);
  if (count < 1 || bins != (half ? points / 2 + 1 : points)) refuse("{} numbers of frames of {}", bins, points);
  if (count - 1 > exported::kMostMade / frames.step) refuse("{} frames in steps of {}", count, frames.step);
  const double scale = 1 / (static_cast<double>(points) * frames.scale);
  NodeId y = half ? exported::signal_of_half(call, x, 1, points, scale)
                  : exported::transformed(call, x, 1, {points, points, true, scale}).real;
  y = call.binary(BinaryKind::mul, y, call.reshape(frames.window, Shape{points, 1}));
  const int64_t whole = points + frames.step * (count - 1), margin = call.flag("center", true) ? points / 2 : 0;
  const int64_t length = call.integer("length", whole - 2 * margin);
  const int64_t results = std::min(length, whole - margin);
  if (length < 1 || results < 1 || length > exported::kMostMade) refuse("a signal of {} places", length);
  y = call.Emit::slice(overlapped(call, y, frames.step), 1, margin, margin + results);
  y = call.binary(BinaryKind::mul, y, call.literal(weights_of_places(call, frames, count, margin, results)));
  y = call.padded(y, 1, 0, length - results, 0);
  return one(call.rank(given.real) == 2 ? call.select_index(y, 0, 0) : y);
}

Values hann_window(const Call& call) { return window(call, {0.5, 0.5, 0}); }
Values hamming_window(const Call& call) {
  return window(call, {call.number("alpha", 0.54), call.number("beta", 0.46), 0});
}
Values blackman_window(const Call& call) { return window(call, {0.42, 0.5, 0.08}); }

}  // namespace rung::pt2::operators

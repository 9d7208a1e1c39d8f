// Sums products of integers in f32, as many terms at a time as f32 adds up exactly, and those sums in i32.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/integer_sums.hpp"

#include <algorithm>
#include <cmath>

#include "import/onnx/quantised.hpp"
#include "import/onnx/windows.hpp"

namespace rung::onnx {
namespace {

using exported::refuse;

constexpr double kMostExact = 1 << 24;  // f32 holds every integer up to it

// How the terms of sums lie in w: steps of `taps` neighbours each, for a number of outputs.
struct SumLayout {
  int64_t steps, outputs, taps, step_stride, output_stride;
};

void want_bytes(const Call& call, const Integers& x) {
  if (call.dtype(x.values) != DType::u8 && call.dtype(x.values) != DType::i8)
    refuse("a product of {}", call.type(x.values));
}

// Zero points that are known, as floats; empty: none are taken away. None: an input decides them.
std::optional<std::vector<float>> known_zeros(const Call& call, const Integers& x) {
  if (!x.zero) return std::vector<float>{};
  const auto value = call.computed_value(*x.zero);
  if (!value) return std::nullopt;
  const Tensor wide = convert(*value, DType::f32);
  return std::vector<float>(wide.as<float>().begin(), wide.as<float>().end());
}

// The largest distance of a number from its zero point.
double most_of(const Call& call, const Integers& x) {
  const double least = call.dtype(x.values) == DType::i8 ? -128 : 0, most = least + 255;
  const auto zeros = known_zeros(call, x);
  if (!zeros) return 255;
  double distance = zeros->empty() ? std::max(-least, most) : 0;
  for (const double zero : *zeros) distance = std::max({distance, zero - least, most - zero});
  return distance;
}

// |w| of constants, summed over the taps of a step.
class Magnitudes {
 public:
  // None: an input decides w, or its zero points are not one or one for each output.
  static std::optional<Magnitudes> of(const Call& call, const Integers& w, const SumLayout& layout) {
    auto zeros = known_zeros(call, w);
    if (!call.graph().is_constant(w.values) || !zeros) return std::nullopt;
    if (zeros->empty()) zeros = {0};
    if (zeros->size() != 1 && static_cast<int64_t>(zeros->size()) != layout.outputs) return std::nullopt;
    return Magnitudes(value_or_throw(call.graph().weight(w.values)->load()), *std::move(zeros), layout);
  }
  double operator()(int64_t step, int64_t output) const {
    const float zero = zeros_[zeros_.size() == 1 ? 0 : static_cast<size_t>(output)];
    const int64_t begin = step * layout_.step_stride + output * layout_.output_stride;
    double sum = 0;
    for (int64_t i = begin; i < begin + layout_.taps; ++i) sum += std::abs(number(static_cast<size_t>(i)) - zero);
    return sum;
  }

 private:
  Magnitudes(Tensor values, std::vector<float> zeros, const SumLayout& layout)
      : values_(std::move(values)), zeros_(std::move(zeros)), layout_(layout) {}
  float number(size_t i) const {
    return values_.dtype() == DType::u8 ? std::as_const(values_).as<uint8_t>()[i]
                                        : std::as_const(values_).as<int8_t>()[i];
  }

  Tensor values_;
  std::vector<float> zeros_;
  SumLayout layout_;
};

// Where the parts of the sums end whose terms f32 adds up exactly in any order.
std::vector<int64_t> ends_of_parts(const SumLayout& layout, double most_x, const auto& magnitude) {
  const double most = kMostExact / std::max(1.0, most_x);
  std::vector<double> sums(static_cast<size_t>(layout.outputs), 0);
  std::vector<int64_t> ends;
  for (int64_t step = 0, begin = 0; step < layout.steps; ++step) {
    const auto fits = [&](int64_t output) {
      return sums[static_cast<size_t>(output)] + magnitude(step, output) <= most;
    };
    bool all = true;
    for (int64_t output = 0; all && output < layout.outputs; ++output) all = fits(output);
    if (!all) {
      if (step == begin) refuse("products of {} taps, whose sums f32 does not hold", layout.taps);
      ends.push_back(begin = step);
      std::ranges::fill(sums, 0);
      --step;
      continue;
    }
    for (int64_t output = 0; output < layout.outputs; ++output)
      sums[static_cast<size_t>(output)] += magnitude(step, output);
  }
  ends.push_back(layout.steps);
  return ends;
}

// By the values of w where they are known: those of a trained model take a few parts fewer than any could.
std::vector<int64_t> sum_parts(const Call& call, double most_x, const Integers& w, std::optional<SumLayout> known,
                               const SumLayout& any) {
  if (known)
    if (const auto magnitudes = Magnitudes::of(call, w, *known)) return ends_of_parts(*known, most_x, *magnitudes);
  const double most = static_cast<double>(any.taps) * most_of(call, w);
  return ends_of_parts(any, most_x, [=](int64_t, int64_t) { return most; });
}

NodeId centred(const Call& call, NodeId values, std::optional<NodeId> zero) {
  const NodeId wide = call.cast(values, DType::f32);
  return zero ? call.binary(BinaryKind::sub, wide, *zero) : wide;
}

// A product's zero points, where they broadcast.
std::optional<NodeId> zero_of(const Call& call, const Integers& x, bool by_row) {
  if (!x.zero) return std::nullopt;
  const NodeId zero = call.cast(*x.zero, DType::f32);
  if (call.type(zero).elements() == 1) return call.reshape(zero, Shape{});
  return by_row && call.rank(zero) == 1 ? call.unsqueeze(zero, 1) : zero;
}

// Some channels of each group, of an axis that holds all groups.
NodeId channels_of(const Call& call, NodeId x, int64_t groups, int64_t begin, int64_t end) {
  const Shape whole = call.shape(x);
  const int64_t each = whole[1] / groups;
  if (begin == 0 && end == each) return x;
  if (groups == 1) return call.slice(x, 1, begin, end);
  Shape apart = whole, together = whole;
  apart[1] = each;
  apart.insert(1, groups);
  together[1] = groups * (end - begin);
  return call.reshape(call.slice(call.reshape(x, apart), 2, begin, end), together);
}

// The nearest i32: kernels that transform patches leave fractions next to a whole number.
NodeId whole(const Call& call, NodeId sums) {
  const NodeId below = call.binary(BinaryKind::lt, sums, call.scalar(0, DType::f32));
  const NodeId away = call.select(below, call.scalar(-0.25, DType::f32), call.scalar(0.25, DType::f32));
  return call.cast(call.binary(BinaryKind::add, sums, away), DType::i32);
}

}  // namespace

Integers integers_at(const Call& call, size_t values, size_t zero) { return {call[values], call.optional(zero)}; }

NodeId integer_product(const Call& call, const Integers& a, const Integers& b) {
  want_bytes(call, a), want_bytes(call, b);
  const NodeId left = centred(call, a.values, zero_of(call, a, true));
  const NodeId right = centred(call, b.values, zero_of(call, b, false));
  if (call.rank(left) == 0 || call.rank(right) == 0)
    refuse("a product of {} and {}", call.type(a.values), call.type(b.values));
  const Shape s = call.shape(right);
  const int rows = s.rank() == 1 ? 0 : s.rank() - 2;
  std::optional<SumLayout> known;
  if (s.rank() == 2) known = SumLayout{s[0], s[1], 1, s[1], 1};
  std::optional<NodeId> sum;
  int64_t begin = 0;
  for (const int64_t end : sum_parts(call, most_of(call, a), b, known, {s[rows], 1, 1, 0, 0})) {
    const NodeId part = call.matmul(call.slice(left, -1, begin, end), call.slice(right, rows, begin, end));
    const NodeId exact = call.cast(part, DType::i32);
    sum = sum ? call.binary(BinaryKind::add, *sum, exact) : exact;
    begin = end;
  }
  return *sum;
}

NodeId integer_convolution(const Call& call, const Integers& x, const Integers& w) {
  want_bytes(call, x), want_bytes(call, w);
  exported::Emit::ConvolutionCall conv = described_convolution(call, x.values, w.values);
  if (x.zero && call.type(*x.zero).elements() != 1) refuse("zero points of {}, wanted one number", call.type(*x.zero));
  const Shape s = call.shape(w.values);
  if (conv.groups < 1 || call.shape(x.values)[1] != conv.groups * s[1])
    refuse("{} with {} in {} groups: channels do not fit", call.type(x.values), call.type(w.values), conv.groups);
  const NodeId image = centred(call, x.values, zero_of(call, x, false));
  const NodeId weights =
      centred(call, w.values, w.zero ? std::optional(along(call, w.values, *w.zero, 0)) : std::nullopt);
  const int64_t taps = s.product() / std::max<int64_t>(1, s[0] * s[1]);
  const SumLayout known{s[1], s[0], taps, taps, s[1] * taps};
  std::optional<NodeId> sum;
  int64_t begin = 0;
  for (const int64_t end : sum_parts(call, most_of(call, x), w, known, {s[1], 1, taps, 0, 0})) {
    conv.x = channels_of(call, image, conv.groups, begin, end);
    conv.w = call.slice(weights, 1, begin, end);
    const NodeId exact = whole(call, call.convolution(conv));
    sum = sum ? call.binary(BinaryKind::add, *sum, exact) : exact;
    begin = end;
  }
  return *sum;
}

}  // namespace rung::onnx

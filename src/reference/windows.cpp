// Convolution and pooling: each result's window is gathered, then summed up or compared.
// SPDX-License-Identifier: Apache-2.0
#include "ir/windows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "reference/dot.hpp"
#include "reference/operations.hpp"
#include "reference/registers.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

using Places = std::vector<std::optional<int64_t>>;

// Visits all places of a shape in row order.
void for_each_place(const std::vector<int64_t>& extents,
                    const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> at(extents.size(), 0);
  for (size_t axis = extents.size(); axis > 0;) {
    visit(at);
    for (axis = extents.size(); axis > 0 && ++at[axis - 1] == extents[axis - 1]; --axis) at[axis - 1] = 0;
  }
}

// Returns the place that each tap of one result's window sees, among the elements of all axes in row order.
Places seen_by(const std::vector<Window>& windows, const std::vector<int64_t>& result) {
  std::vector<int64_t> taps;
  for (const Window& window : windows) taps.push_back(window.taps);
  Places places;
  for_each_place(taps, [&](const std::vector<int64_t>& tap) {
    std::optional<int64_t> place = 0;
    for (size_t axis = 0; axis < windows.size(); ++axis) {
      const auto seen = windows[axis].seen(result[axis], tap[axis]);
      if (place && seen) *place = *place * windows[axis].extent + *seen;
      if (!seen) place.reset();
    }
    places.push_back(place);
  });
  return places;
}

std::vector<int64_t> results_of(const std::vector<Window>& windows) {
  std::vector<int64_t> results;
  for (const Window& window : windows) results.push_back(window.results());
  return results;
}

int64_t elements_of(const std::vector<Window>& windows) {
  int64_t elements = 1;
  for (const Window& window : windows) elements *= window.extent;
  return elements;
}

// Rounds y of a convolution of integers to the type of `out`.
Tensor write_limited(const Conv& op, const Type& type, std::vector<double> y) {
  const double least = type.dtype == DType::i8 ? -128 : 0;
  for (double& value : y)
    value = std::clamp(std::nearbyint(value) + static_cast<double>(op.out_zero), least, least + 255);
  return write(type, y);
}

}  // namespace

Result<Tensor> compute(const Conv& op, const Arguments& arguments) {
  const Shape &x = arguments[0].shape(), &w = arguments[1].shape();
  std::vector<Window> windows;
  for (int axis = 0; axis < x.rank() - 2; ++axis) windows.push_back(window_of(op, x, w, axis));
  const size_t channels = size(x.back()), rows = size(w[0]), run = size(w.back()),
               elements = size(elements_of(windows));
  auto pixels = read(arguments[0]);
  for (double& pixel : pixels) pixel -= static_cast<double>(op.zero);
  const auto weights = read(arguments[1]);
  std::vector<double> factors(rows, 1.0), bias(rows), residual, out;
  if (const Tensor* values = op.slots.find(arguments.operands, ConvSlot::bias)) {
    if (has_factors(values->shape())) read(*values, 0, factors);
    read(*values, has_factors(values->shape()) ? rows : 0, bias);
  }
  if (const Tensor* values = op.slots.find(arguments.operands, ConvSlot::residual)) residual = read(*values);
  if (const Tensor* values = op.slots.find(arguments.operands, ConvSlot::scale)) {
    read(*values, 0, factors);
    for (size_t row = 0; row < rows; ++row) bias[row] *= factors[row];
  }
  const size_t row_size = weights.size() / rows, rows_of_group = rows / size(op.groups);
  std::vector<double> window(row_size);
  for (size_t batch = 0; batch < size(x[0]); ++batch)
    for_each_place(results_of(windows), [&](const std::vector<int64_t>& result) {
      const Places places = seen_by(windows, result);
      for (size_t row = 0; row < rows; ++row) {
        const size_t first = row / rows_of_group * run;
        for (size_t tap = 0; tap < places.size() && row % rows_of_group == 0; ++tap)
          for (size_t c = 0; c < run; ++c)
            window[tap * run + c] =
                places[tap] ? pixels[(batch * elements + size(*places[tap])) * channels + first + c] : 0.0;
        const double products = dot(window, std::span(weights).subspan(row * row_size, row_size));
        double y = apply(op.activation, products * factors[row] + bias[row]);
        if (!residual.empty()) y = apply(op.last, y + residual[out.size()]);
        out.push_back(y);
      }
    });
  if (op.out) return write_limited(op, arguments.result, std::move(out));
  if (!op.tail.empty()) {
    RUNG_TRY(const PointwiseProgram tail, parse_pointwise(op.tail, 1));
    out = run_program(tail, {std::move(out)});
  }
  return write(arguments.result, out);
}

namespace {

// The elements of one window that stand inside of x.
struct Seen {
  std::vector<double> values;
  std::vector<int64_t> places;
};

// Calls `reduce` for each result, in row order, with the elements that its window sees.
void for_each_window(const Pool& op, const Tensor& x, const std::function<void(const Seen&)>& reduce) {
  std::vector<Window> windows;
  for (int axis = 0; axis < x.shape().rank() - 2; ++axis) windows.push_back(window_of(op, x.shape(), axis));
  const auto values = read(x);
  const size_t channels = size(x.shape().back()), elements = size(elements_of(windows));
  for (size_t batch = 0; batch < size(x.shape()[0]); ++batch)
    for_each_place(results_of(windows), [&](const std::vector<int64_t>& result) {
      const Places places = seen_by(windows, result);
      for (size_t c = 0; c < channels; ++c) {
        Seen seen;
        for (const auto& place : places) {
          if (!place) continue;
          seen.values.push_back(values[(batch * elements + size(*place)) * channels + c]);
          seen.places.push_back(*place);
        }
        reduce(seen);
      }
    });
}

double pooled(ReduceKind kind, const std::vector<double>& values) {
  if (kind == ReduceKind::max) {
    double largest = -std::numeric_limits<double>::infinity();
    for (double value : values) largest = apply(BinaryKind::max, largest, value);
    return largest;
  }
  double sum = 0;
  for (double value : values) sum += value;
  return kind == ReduceKind::mean ? sum / static_cast<double>(values.size()) : sum;
}

// Returns the place of the first largest; where a window sees no element, 0.
int64_t place_of_largest(const Seen& seen) {
  size_t best = 0;
  for (size_t i = 1; i < seen.values.size(); ++i)
    if (!std::isnan(seen.values[best]) && !(seen.values[i] <= seen.values[best])) best = i;
  return seen.places.empty() ? 0 : seen.places[best];
}

}  // namespace

Result<Tensor> compute(const Pool& op, const Arguments& arguments) {
  std::vector<double> out;
  for_each_window(op, arguments[0], [&](const Seen& seen) { out.push_back(pooled(op.kind, seen.values)); });
  return write(arguments.result, out);
}

// Computes the places of the largest.
Result<Tensor> compute_further(const Pool& op, const Arguments& arguments, size_t) {
  std::vector<int64_t> out;
  for_each_window(op, arguments[0], [&](const Seen& seen) { out.push_back(place_of_largest(seen)); });
  return write_integers(arguments.result, out);
}

}  // namespace rung::reference

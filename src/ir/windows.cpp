// Places of windows along one axis.
// SPDX-License-Identifier: Apache-2.0
#include "ir/windows.hpp"

namespace rung {

int64_t Window::results() const {
  const int64_t reach = dilation * (taps - 1) + 1;
  if (transposed) return (extent - 1) * stride + reach - before - after + extra;
  return (extent + before + after - reach) / stride + 1;
}

std::optional<int64_t> Window::seen(int64_t result, int64_t tap) const {
  int64_t at = transposed ? result + before - tap * dilation : result * stride + tap * dilation - before;
  if (transposed && at % stride != 0) return std::nullopt;
  if (transposed) at /= stride;
  if (at < 0 || at >= extent) return std::nullopt;
  return at;
}

int64_t number_of(const Dims& list, int axis, int64_t if_empty) { return list.rank() == 0 ? if_empty : list[axis]; }

namespace {

template <class Windowed>
Window window_of_lists(const Windowed& op, int64_t extent, int64_t taps, int axis) {
  return {.extent = extent,
          .taps = taps,
          .stride = number_of(op.stride, axis, 1),
          .dilation = number_of(op.dilation, axis, 1),
          .before = number_of(op.before, axis, 0),
          .after = number_of(op.after, axis, 0)};
}

}  // namespace

Window window_of(const Conv& op, const Shape& x, const Shape& w, int axis) {
  Window window = window_of_lists(op, x[axis + 1], w[axis + 1], axis);
  window.transposed = op.transposed;
  window.extra = number_of(op.extra, axis, 0);
  return window;
}

Window window_of(const Pool& op, const Shape& x, int axis) {
  return window_of_lists(op, x[axis + 1], op.window[axis], axis);
}

bool widens_windows(const Op& op, const Type& from) {
  const auto* cast = as<Cast>(op);
  return cast && cast->to == DType::f32 && from.shape.rank() > 2 &&
         (from.dtype == DType::i8 || from.dtype == DType::u8);
}

}  // namespace rung

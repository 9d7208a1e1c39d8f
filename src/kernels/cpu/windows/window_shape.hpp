// The windows of a problem over three axes: those that the op lacks come first, with one element.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "ir/windows.hpp"
#include "kernels/kernel.hpp"

namespace rung::cpu {

inline constexpr int kWindowAxes = 3;

// One line of results: neighbours along the last axis.
struct WindowShape {
  int64_t batch = 1;
  std::array<Window, kWindowAxes> axes;
  std::array<int64_t, kWindowAxes> x_strides{};  // from element to element of x
  int64_t x_batch = 0;                           // from batch to batch of x

  int64_t lines() const { return batch * axes[0].results() * axes[1].results(); }
  int64_t line() const { return axes[2].results(); }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
};

// A line's place: its batch, and its place along the first two axes.
struct LinePlace {
  int64_t batch, at[2];
  LinePlace(const WindowShape& shape, int64_t line)
      : batch(line / shape.axes[1].results() / shape.axes[0].results()),
        at{line / shape.axes[1].results() % shape.axes[0].results(), line % shape.axes[1].results()} {}
};

// Reads the windows of a conv or pool problem, whose first operand is x [B,I...,C].
WindowShape window_shape_of(const Problem& problem);

}  // namespace rung::cpu

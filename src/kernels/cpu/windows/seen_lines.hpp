// The lines of x that the windows of one line of results see.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/cpu/windows/lines_of_windows.hpp"
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

// Lines in memory of f32, in the order of their taps; made once for each part of a call.
class SeenLines {
 public:
  explicit SeenLines(const WindowShape& shape) : shape_(shape) {
    const auto most = static_cast<size_t>(shape.axes[0].taps * shape.axes[1].taps);
    x_.reserve(most), taps_.reserve(most);
  }
  // Finds the lines that line `line` of the results sees.
  void find(const float* x, int64_t line);
  const std::vector<const float*>& x() const { return x_; }
  const std::vector<int64_t>& taps() const { return taps_; }  // counted in row order over the first two axes
  // Returns all results of the line for the kernels, without weights, channels and the place of the results.
  WindowLines windows() const;

 private:
  const WindowShape& shape_;
  std::vector<const float*> x_;
  std::vector<int64_t> taps_;
};

}  // namespace rung::cpu

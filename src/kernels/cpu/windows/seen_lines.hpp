// The lines of x that the windows of one line of results see.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/cpu/windows/lines_of_windows.hpp"
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

// Lines in the order of their taps; made once for each part of a call.
class SeenLines {
 public:
  explicit SeenLines(const WindowShape& shape) : shape_(shape) {
    const auto most = static_cast<size_t>(shape.axes[0].taps * shape.axes[1].taps);
    offsets_.reserve(most), taps_.reserve(most);
  }
  // Finds the lines that line `line` of the results sees.
  void find(int64_t line);
  const std::vector<int64_t>& offsets() const { return offsets_; }  // in elements from x's first one
  const std::vector<int64_t>& taps() const { return taps_; }        // counted in row order over the first two axes

 private:
  const WindowShape& shape_;
  std::vector<int64_t> offsets_, taps_;
};

// Returns all results of a line whose windows are `last` along it and see these lines; without weights, channels and
// the place of the results.
WindowLines windows_over(const std::vector<const float*>& lines, const Window& last, int64_t x_stride);

}  // namespace rung::cpu

// Finds the lines that windows see.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {

void SeenLines::find(const float* x, int64_t line) {
  const LinePlace place(shape_, line);
  x_.clear(), taps_.clear();
  x += place.batch * shape_.x_batch;
  for (int64_t i = 0; i < shape_.axes[0].taps; ++i)
    for (int64_t j = 0; j < shape_.axes[1].taps; ++j) {
      const auto plane = shape_.axes[0].seen(place.at[0], i), row = shape_.axes[1].seen(place.at[1], j);
      if (!plane || !row) continue;
      x_.push_back(x + *plane * shape_.x_strides[0] + *row * shape_.x_strides[1]);
      taps_.push_back(i * shape_.axes[1].taps + j);
    }
}

WindowLines SeenLines::windows() const {
  const Window& last = shape_.axes[2];
  return {.x = x_.data(),
          .weights = nullptr,
          .lines = static_cast<int64_t>(x_.size()),
          .extent = last.extent,
          .taps = last.taps,
          .stride = last.stride,
          .dilation = last.dilation,
          .before = last.before,
          .x_stride = shape_.x_strides[2],
          .weight_stride = 0,
          .begin = 0,
          .count = shape_.line(),
          .channels = 0,
          .out_stride = 0,
          .out = nullptr};
}

}  // namespace rung::cpu

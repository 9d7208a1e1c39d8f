// Finds the lines that windows see.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {

void SeenLines::find(int64_t line) {
  const LinePlace place(shape_, line);
  offsets_.clear(), taps_.clear();
  for (int64_t i = 0; i < shape_.axes[0].taps; ++i)
    for (int64_t j = 0; j < shape_.axes[1].taps; ++j) {
      const auto plane = shape_.axes[0].seen(place.at[0], i), row = shape_.axes[1].seen(place.at[1], j);
      if (!plane || !row) continue;
      offsets_.push_back(place.batch * shape_.x_batch + *plane * shape_.x_strides[0] + *row * shape_.x_strides[1]);
      taps_.push_back(i * shape_.axes[1].taps + j);
    }
}

WindowLines windows_over(const std::vector<const float*>& lines, const Window& last, int64_t x_stride) {
  return {.x = lines.data(),
          .weights = nullptr,
          .lines = static_cast<int64_t>(lines.size()),
          .extent = last.extent,
          .taps = last.taps,
          .stride = last.stride,
          .dilation = last.dilation,
          .before = last.before,
          .x_stride = x_stride,
          .weight_stride = 0,
          .begin = 0,
          .count = last.results(),
          .channels = 0,
          .out_stride = 0,
          .out = nullptr};
}

}  // namespace rung::cpu

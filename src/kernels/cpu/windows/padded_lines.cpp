// Keeps copies of lines for windows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/padded_lines.hpp"

#include <algorithm>

namespace rung::cpu {
namespace {

int64_t lines_of_window(const WindowShape& shape) { return shape.axes[0].taps * shape.axes[1].taps; }

int64_t line_elements(const WindowShape& shape, int64_t block) { return PaddedLines::window(shape).extent * block; }

}  // namespace

int64_t PaddedLines::elements(const WindowShape& shape, int64_t block) {
  const int64_t lines = lines_of_window(shape), line = line_elements(shape, block);
  return line > 0 && lines > kMostElements / line ? kMostElements + 1 : lines * line;
}

Window PaddedLines::window(const WindowShape& shape) {
  Window window = shape.axes[2];
  window.extent += window.before + window.after;
  window.before = window.after = 0;
  return window;
}

PaddedLines::PaddedLines(const WindowShape& shape, const gemm::MicroKernels& micro, int64_t block, float* memory)
    : shape_(shape), micro_(micro), block_(block), line_(line_elements(shape, block)), memory_(memory) {
  held_.assign(static_cast<size_t>(lines_of_window(shape)), -1);
  const Window& last = shape.axes[2];
  for (size_t slot = 0; slot < held_.size(); ++slot) {
    std::fill_n(line_at(slot), last.before * block, 0.0f);
    std::fill_n(line_at(slot) + (last.before + last.extent) * block, last.after * block, 0.0f);
  }
}

void PaddedLines::start(const Source& source) {
  source_ = source;
  std::fill(held_.begin(), held_.end(), -1);
}

const std::vector<const float*>& PaddedLines::find(const std::vector<int64_t>& offsets) {
  found_.clear();
  for (int64_t offset : offsets) found_.push_back(copied(offset, offsets));
  return found_;
}

float* PaddedLines::copied(int64_t offset, const std::vector<int64_t>& wanted) {
  const auto held = std::find(held_.begin(), held_.end(), offset);
  if (held != held_.end()) return line_at(static_cast<size_t>(held - held_.begin()));
  // A window sees at most as many lines as there are copies, so one of them is not wanted.
  const auto free = std::find_if(held_.begin(), held_.end(), [&](int64_t line) {
    return std::find(wanted.begin(), wanted.end(), line) == wanted.end();
  });
  *free = offset;
  float* to = line_at(static_cast<size_t>(free - held_.begin()));
  gemm::CopyRows c;
  c.from =
      static_cast<const std::byte*>(source_.x) + (offset + source_.first) * static_cast<int64_t>(size_of(source_.type));
  c.from_stride = shape_.x_strides[2], c.from_type = source_.type;
  c.to = to + shape_.axes[2].before * block_, c.to_stride = block_, c.to_type = DType::f32;
  c.rows = shape_.axes[2].extent, c.columns = source_.channels, c.padded = block_;
  micro_.copy_rows(c);
  return to;
}

}  // namespace rung::cpu

// Copies of the lines of x that windows see, for a block of channels: dense f32, with the zeros around them.
// Neighbouring lines of results see mostly the same lines, so that each is copied once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

class PaddedLines {
 public:
  // The lines of x: where it is and how many of its channels from the first one on a line has, with zeros up to
  // `block`.
  struct Source {
    const void* x;
    DType type;
    int64_t first, channels;
  };
  static constexpr int64_t kMostElements = int64_t{1} << 32;
  // Returns the elements that copies take; a larger number than kMostElements stands for all that are as large.
  static int64_t elements(const WindowShape& shape, int64_t block);

  PaddedLines(const WindowShape& shape, const gemm::MicroKernels& micro, int64_t block, float* memory);
  // Forgets all copies; those to come are of this source.
  void start(const Source& source);
  // Returns copies of the lines that stand at `offsets`, in elements from x's first one; valid until the next call.
  const std::vector<const float*>& find(const std::vector<int64_t>& offsets);
  // Returns the windows over copies: none of them reaches beyond its line.
  static Window window(const WindowShape& shape);

 private:
  float* copied(int64_t offset, const std::vector<int64_t>& wanted);
  float* line_at(size_t slot) const { return memory_ + static_cast<int64_t>(slot) * line_; }

  const WindowShape& shape_;
  const gemm::MicroKernels& micro_;
  int64_t block_, line_;  // line_: elements of a copy
  float* memory_;
  Source source_{};
  std::vector<int64_t> held_;  // offsets of the lines of which there are copies; -1: none
  std::vector<const float*> found_;
};

}  // namespace rung::cpu

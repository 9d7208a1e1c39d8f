// The arguments of the vectorised kernels that go over windows channel by channel, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/op_kinds.hpp"

namespace rung::cpu {

// Channels of a block: two vectors of the widest instruction set.
inline constexpr int64_t kWindowChannels = 32;

// Some neighbouring results of a line, for a block of at most kWindowChannels channels. `lines`: the lines of x that
// their windows see, each from its first element on, at the block's first channel.
struct WindowLines {
  const float* const* x;        // of each line
  const float* const* weights;  // of each line: those of its first tap, for the block's channels; null in a pool
  int64_t lines;
  int64_t extent, taps, stride, dilation, before;  // of the last axis
  int64_t x_stride, weight_stride;                 // elements from element to element of a line, and from tap to tap
  int64_t begin, count;                            // results
  int64_t channels;
  int64_t out_stride;  // elements from result to result
  float* out;          // sums, or what a pool gives
};

namespace avx2 {
void sum_depthwise(const WindowLines& work);
void pool_windows(const WindowLines& work, ReduceKind kind);
}  // namespace avx2
namespace avx512 {
void sum_depthwise(const WindowLines& work);
void pool_windows(const WindowLines& work, ReduceKind kind);
}  // namespace avx512

}  // namespace rung::cpu

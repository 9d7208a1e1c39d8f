// The configurations and arguments of depthwise convolutions, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

constexpr int kDepthwiseThreads = 128;

// A thread makes `channels` neighbouring channels, 8 or 1, of `run` neighbouring results of the last axis.
struct DepthwiseConfig {
  int channels, run;
  bool operator==(const DepthwiseConfig&) const = default;
};

struct DepthwiseArguments {
  uint64_t x, w;  // addresses; w: f32[taps, channels]
  ConvEnd end;
  WindowAxis axes[kWindowAxes];
  int64_t x_batch;                 // elements from batch to batch
  uint32_t channels, runs, count;  // runs: of results along the last axis; count: of threads with work
  DType x_type;
};

}  // namespace rung::gpu

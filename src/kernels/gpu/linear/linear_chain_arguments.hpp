// The configurations and the argument of the kernel that streams several layers, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_stream_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kChainLayers = 4;          // at most
constexpr uint32_t kChainCounterBytes = 128;  // of a counter of blocks, in a line of its own

// A variant of the kernel: layers of these types, of any ends.
struct ChainConfig {
  DType x, w;
  bool grouped;
  bool operator==(const ChainConfig&) const = default;
};

// Layers that follow from each other. Between two of them all blocks meet, at one of kChainLayers - 1 counters.
struct LinearChainArguments {
  LinearStreamArguments layers[kChainLayers] = {};
  StreamEnd ends[kChainLayers] = {};
  uint32_t count;
  uint64_t counters;  // an address
};

}  // namespace rung::gpu

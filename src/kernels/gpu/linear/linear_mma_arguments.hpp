// The argument of linear_mma and the configurations of its kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"

namespace rung::gpu {

constexpr int32_t kMmaWarps = 4, kMmaWarpTile = 32;  // each warp sums up a square of 32 results
constexpr int32_t kMmaElements = 8192;               // of x and w that a block loads at a time

// A variant of the kernel: the type of x and w, the elements that a thread loads at a time, and the warps that share
// K. The others compute neighbouring squares, 2 by 2.
struct MmaConfig {
  DType type;
  int32_t vector, k_warps;
  bool operator==(const MmaConfig&) const = default;

  constexpr int32_t side() const { return kMmaWarpTile * (k_warps == 1 ? 2 : 1); }  // of the block's square
  constexpr int32_t depth() const { return kMmaElements / (2 * side()); }           // of K in shared memory
  // Returns the elements from one line of shared memory to the next, a pitch that keeps the banks apart.
  constexpr int32_t pitch() const { return depth() + 8; }
};

struct LinearMmaArguments {
  TiledArguments of;    // x_step and w_step are 1; no pairs
  int64_t x_row;        // elements from one m to the next
  uint32_t w_constant;  // not 0: w may be read before the producers have ended
};

}  // namespace rung::gpu

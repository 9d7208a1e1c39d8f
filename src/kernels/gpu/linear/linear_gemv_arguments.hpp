// The argument of the matrix-vector kernels and the cut of the work that it describes, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kGemvThreads = 256;
constexpr int32_t kGemvMostWarps = 8;  // on machines of 32 lanes

// A variant of the kernel: the type of w (f8e4m3fn stands for the machine's e4m3), the bytes of w that a lane loads at
// a time, and the most rows of x.
struct GemvConfig {
  DType type;
  int32_t bytes, rows;
  bool operator==(const GemvConfig&) const = default;

  constexpr bool has_8_bits() const { return type == DType::f8e4m3fn || type == DType::i8; }
  constexpr int32_t vector() const { return bytes / (type == DType::f32 ? 4 : has_8_bits() ? 1 : 2); }  // elements
  constexpr int32_t blocks() const { return rows == 1 ? 4 : 2; }  // that share a multiprocessor
  // Returns the sums that are in shared memory beside x: those of a block's warps, of columns and their partners, and
  // of the columns before, which some threads may still read.
  constexpr int32_t parts() const { return 2 * 2 * rows * kGemvMostWarps; }
};

// A team of warps shares the K of one column of the result, and the teams of a block take neighbouring columns. A block
// keeps its rows of x in shared memory as f32, and goes on to further columns if there are more than all blocks take.
struct LinearGemvArguments {
  TiledArguments of;    // w_step is 1; k is a multiple of the vector
  uint32_t team;        // warps; a power of two that divides the block's
  uint32_t w_constant;  // not 0: w may be read before the producers have ended
  uint32_t x_quads;     // not 0: four neighbours of x are aligned to their size
  uint32_t prefetch;    // bytes of its rows of w that a team prefetches before the producers have ended
};

}  // namespace rung::gpu

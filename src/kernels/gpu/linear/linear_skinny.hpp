// How a skinny linear layer is cut into blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kernels/gpu/linear/linear_skinny_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

// Rows of weights, and how many blocks share their columns.
struct SkinnyTile {
  uint32_t rows, split;
  int64_t parameter() const { return rows * 10 + split; }  // the value of "tile"
};

constexpr int64_t kSkinnyThrottleNs = 150;  // the default of "throttle", measured: docs/gpu_kernels.md

struct SkinnyPlan {
  SkinnyTile tile{};
  uint32_t box_rows = 0;  // of w: a tile's, or half of them where rows come in pairs
  uint32_t half = 0;      // rows of w between partners; 0: no pairs
  uint32_t tiles = 0, chunks = 0;
  SkinnyShared shared{};
  uint32_t shared_bytes = 0;  // what shared needs, or more than half of a multiprocessor's
  uint32_t throttle_ns = 0;   // between two chunks of weights, while their ring fills for the first time
  std::string function;       // "linear_skinny_bf16_64_8_norm": tile.rows, tile.split, the form

  // By the problem's parameters "tile", "ring" (KiB of weights under way), "alone" (no two blocks of a launch on one
  // multiprocessor) and "throttle" (throttle_ns), or by default.
  explicit SkinnyPlan(const Problem& problem);
  uint32_t blocks() const { return tiles * tile.split; }
};

// The tiles that are worth a trial on this problem, the one to prefer first.
std::vector<SkinnyTile> skinny_tiles(const Problem& problem);

}  // namespace rung::gpu

// The cut of a skinny linear layer into blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "kernels/gpu/linear/linear_skinny_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

constexpr int64_t kSkinnyThrottleNs = 150;  // the default of "throttle", measured: docs/gpu_kernels.md

// The names and values of a tile's parameters.
inline constexpr std::string_view kSkinnyParameters[] = {"rows", "split"};
inline std::vector<int64_t> parameters_of(const SkinnyConfig& tile) { return {tile.rows, tile.split}; }

struct SkinnyPlan {
  SkinnyConfig tile{};
  bool alone = false;                               // no two blocks of a launch share a multiprocessor
  uint32_t box_rows = 0;                            // the rows of w of a tile, or half of them if rows come in pairs
  uint32_t tiles = 0, token_tiles = 0, chunks = 0;  // tiles: of the rows of w
  SkinnyShared shared{};
  uint32_t shared_bytes = 0;  // the bytes of `shared`, or more than half of a multiprocessor's
  uint32_t throttle_ns = 0;   // between two chunks of weights, while their ring fills for the first time
  std::string_view function;  // "linear_skinny_bf16_64_8_norm"

  // Plans by the problem's parameters "rows" and "split" of a tile, "ring" (KiB of weights under way), "alone" (no two
  // blocks of a launch on one multiprocessor) and "throttle" (throttle_ns), or by default.
  SkinnyPlan(const Problem& problem, const GpuInfo& gpu);
  uint32_t blocks() const { return tiles * tile.split; }  // of a tile of tokens
};

// Returns the tiles that are worth a trial on this problem, the preferred one first.
std::vector<SkinnyConfig> skinny_tiles(const Problem& problem, const GpuInfo& gpu);

}  // namespace rung::gpu

// The cut of a wide linear layer into tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "kernels/gpu/linear/linear_wide_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

// The names and values of a tile's parameters.
inline constexpr std::string_view kWideParameters[] = {"rows", "tokens", "split"};
inline std::vector<int64_t> parameters_of(const WideConfig& tile) { return {tile.rows, tile.tokens, tile.split}; }

struct WidePlan {
  WideConfig tile;
  int32_t chunks = 0, stages = 0;
  int32_t token_tiles = 0, tiles = 0;  // along the tokens, and in all
  int32_t band = 1;                    // token tiles of a band (WideOrder)
  std::string_view function;           // "linear_wide_bf16_128_208_2_sum"

  // Plans by the problem's parameters kWideParameters, or by default.
  WidePlan(const Problem& problem, const GpuInfo& gpu);
};

// Returns the tiles that are worth a trial on this problem, the preferred one first.
std::vector<WideConfig> wide_tiles(const Problem& problem, const GpuInfo& gpu);

}  // namespace rung::gpu

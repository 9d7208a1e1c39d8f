// The configurations of CDNA's wide linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kWideWavesAlong = 2;  // of a block, along the tokens as along the rows of w
constexpr uint32_t kWideBlockWaves = kWideWavesAlong * kWideWavesAlong;

// Fragments of kCdnaTile tokens and of kCdnaTile rows of w that a wave multiplies with each other.
struct CdnaWideConfig {
  DType type;
  uint32_t token_tiles, row_tiles;
  CdnaEpilogue epilogue;
  bool operator==(const CdnaWideConfig&) const = default;

  // Tokens of a block.
  constexpr uint32_t tokens() const { return kWideWavesAlong * token_tiles * kCdnaTile; }
  constexpr uint32_t rows() const { return kWideWavesAlong * row_tiles * kCdnaTile; }
  constexpr uint32_t stage_bytes() const { return tokens() * kCdnaLineBytes; }  // of x, a chunk in shared memory
};

}  // namespace rung::gpu

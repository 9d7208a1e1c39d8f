// The configurations of CDNA's wide linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kWideWavesAlong = 2;  // waves of a block along the tokens, and along the rows of w
constexpr uint32_t kWideBlockWaves = kWideWavesAlong * kWideWavesAlong;

// A wave multiplies `token_tiles` fragments of kCdnaTile tokens by `row_tiles` fragments of kCdnaTile rows of w.
struct CdnaWideConfig {
  DType type;  // of x and w; f8e4m3fn stands for the machine's e4m3
  uint32_t token_tiles, row_tiles;
  CdnaEpilogue epilogue;
  bool operator==(const CdnaWideConfig&) const = default;

  // The tokens of a block, and its rows of w.
  constexpr uint32_t tokens() const { return kWideWavesAlong * token_tiles * kCdnaTile; }
  constexpr uint32_t rows() const { return kWideWavesAlong * row_tiles * kCdnaTile; }
  constexpr uint32_t stage_bytes() const { return tokens() * kCdnaLineBytes; }  // a chunk of x in shared memory
};

}  // namespace rung::gpu

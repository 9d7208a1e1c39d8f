// The configurations of CDNA's skinny linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"

namespace rung::gpu {

constexpr uint32_t kCdnaMostWaves = 8;  // waves that share K

struct CdnaSkinnyConfig {
  DType type;            // of x and w; f8e4m3fn stands for the machine's e4m3
  uint32_t token_tiles;  // tiles of kCdnaTile rows of x
  uint32_t row_tiles;    // tiles of kCdnaTile rows of w
  CdnaEpilogue epilogue;
  bool operator==(const CdnaSkinnyConfig&) const = default;
  constexpr uint32_t tokens() const { return token_tiles * kCdnaTile; }
  constexpr uint32_t rows() const { return row_tiles * kCdnaTile; }
  // Returns the floats from one token's sums to the next, so that rows' 16 bytes fall into different banks.
  constexpr uint32_t pitch() const { return rows() + 4; }
  constexpr uint32_t shared_bytes(uint32_t waves) const { return (waves * tokens() * pitch() + tokens()) * 4; }
};

}  // namespace rung::gpu

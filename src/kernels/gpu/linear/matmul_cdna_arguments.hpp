// The arguments and configurations of CDNA's matmul, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/cdna/dies.hpp"

namespace rung::gpu {

constexpr uint32_t kMatmulWaves = 4;        // of a block: two along each axis of the result
constexpr uint32_t kMatmulChunkBytes = 64;  // of a line, that go through shared memory together
constexpr uint32_t kMatmulUnits = kMatmulChunkBytes / 16;

// A line is what a result's sum runs along: a row of x, or a column of y. How its elements are read: 16 bytes of a
// line, 16 bytes across lines, or one element at a time, whatever the strides: then the result is stored likewise.
enum class MatmulSide : uint8_t { along, across, single };

struct CdnaMatmulConfig {
  DType type;  // of x, y and the result
  MatmulSide x, y;
  uint32_t tiles;  // fragments of 16 lines, of each axis, that a wave multiplies with each other
  bool operator==(const CdnaMatmulConfig&) const = default;

  constexpr uint32_t lines() const { return 2 * tiles * 16; }  // of a block, of x and of y
  constexpr bool single() const { return x == MatmulSide::single; }
};

struct MatmulLines {
  uint64_t address = 0;
  int64_t line = 0, step = 0;  // elements from line to line, and from one element of a line to the next
  uint32_t lines = 0;
};

// out[z, i, j] = sum over k of x[z, i, k] y[z, k, j]; out is dense.
struct CdnaMatmulArguments {
  MatmulLines x, y;
  uint64_t out = 0;
  Nest<2> batch;             // where matrix z begins in x and y
  Divisor x_tiles, y_tiles;  // blocks of a matrix along either axis
  DieTiles tiles;
  uint32_t k = 0, chunks = 0;
};

}  // namespace rung::gpu

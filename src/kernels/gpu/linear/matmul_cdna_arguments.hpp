// The arguments and configurations of CDNA's matmul, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/cdna/dies.hpp"

namespace rung::gpu {

constexpr uint32_t kMatmulWaves = 4;        // of a block: two along each axis of the result
constexpr uint32_t kMatmulChunkBytes = 64;  // bytes of a line that go through shared memory together
constexpr uint32_t kMatmulUnits = kMatmulChunkBytes / 16;

// The sum of a result runs along a line: a row of x, or a column of y. A side states the way in which a kernel reads
// the elements of lines: 16 bytes of a line, 16 bytes across lines, or one element at a time, for any strides; then it
// also stores the result so.
enum class MatmulSide : uint8_t { along, across, single };

struct CdnaMatmulConfig {
  DType type;  // of x, y and the result
  MatmulSide x, y;
  uint32_t tiles;  // fragments of 16 lines along each axis that a wave multiplies by each other
  bool operator==(const CdnaMatmulConfig&) const = default;

  constexpr uint32_t lines() const { return 2 * tiles * 16; }  // lines of x, and of y, of a block
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
  Nest<2> batch;             // locates matrix z in x and y
  Divisor x_tiles, y_tiles;  // blocks of a matrix along either axis
  DieTiles tiles;
  uint32_t k = 0, chunks = 0;
};

}  // namespace rung::gpu

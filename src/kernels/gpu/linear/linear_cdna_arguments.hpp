// The argument of CDNA's linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/cdna/dies.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kCdnaTile = 16;       // rows of x or of w, of one matrix instruction
constexpr uint32_t kCdnaLineBytes = 64;  // of each row that a chunk of K has: 16 bytes a lane
// Columns of K in a chunk.
constexpr uint32_t cdna_chunk(DType type) { return kCdnaLineBytes / (type == DType::f32 ? 4 : 2); }

// The end of a layer: rows of w with one result each, runs whose sums feed a norm, or pairs: gate and up, or the two
// halves of a head.
enum class CdnaEpilogue : uint8_t { any, norm, gated, rotated };
constexpr bool is_paired(CdnaEpilogue epilogue) {
  return epilogue == CdnaEpilogue::gated || epilogue == CdnaEpilogue::rotated;
}

constexpr uint32_t kPartsThreads = 256;  // of the blocks that add up parts

// Blocks that share K: each leaves the sums of its part in memory, and a launch of its own adds them up in their order.
struct CdnaParts {
  uint64_t sums = 0;     // address: of each part a row of f32 for each token, with all rows of w's tiles; 0: no parts
  uint32_t count = 1;    // of parts
  uint32_t chunks = 0;   // of K in each; in the last one perhaps fewer
  uint32_t columns = 0;  // from one row of sums to the next
  Divisor quads;         // of neighbouring columns of out, but for partners, that a token has
};

// The form of w: tiles of kCdnaTile rows, in the order in which blocks take them; of a tile, chunks of K; of a chunk,
// 16 bytes for each lane, of row lane % 16 from byte 16 (lane / 16) on. Zeros stand beyond the ends of w.
struct LinearCdnaArguments {
  uint64_t x = 0, w = 0;         // addresses
  uint32_t x_stride = 0;         // bytes from row to row; a multiple of 16
  uint32_t m = 0, n = 0, k = 0;  // n a multiple of 4; rows of x and w of 16 bytes
  uint32_t chunks = 0;           // of K, the last one perhaps not whole
  uint32_t tile_bytes = 0;       // of w, a tile's
  uint32_t waves = 0;            // of a block of a skinny product: 1, 2, 4 or 8
  uint32_t chunks_of_wave = 0;   // at most; a wave begins behind those of the waves before it
  LinearPrologue begin;
  LinearEpilogue end;               // strides are multiples of 4
  uint32_t w_tiles = 0;             // of kCdnaTile rows
  DieTiles tiles;                   // of a wide product, each as often as parts of K have it
  Divisor part_tiles, token_tiles;  // of a part, and of those along the tokens
  CdnaParts parts;
};

}  // namespace rung::gpu

// The argument of CDNA's linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/cdna/dies.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kCdnaTile = 16;       // rows of x or of w in one matrix instruction
constexpr uint32_t kCdnaLineBytes = 64;  // bytes of each row in a chunk of K: 16 bytes a lane
// Returns the columns of K in a chunk.
constexpr uint32_t cdna_chunk(DType type) {
  return kCdnaLineBytes / (type == DType::f32 ? 4 : type == DType::bf16 || type == DType::f16 ? 2 : 1);
}

// The end of a layer: rows of w with one result each, runs whose sums feed a norm, or pairs: gate and up, or the two
// halves of a head.
enum class CdnaEpilogue : uint8_t { any, norm, gated, rotated };
constexpr bool is_paired(CdnaEpilogue epilogue) {
  return epilogue == CdnaEpilogue::gated || epilogue == CdnaEpilogue::rotated;
}

// A variant of the kernel that adds up parts.
struct CdnaPartsConfig {
  CdnaEpilogue epilogue;
  bool scales;  // of 8-bit products
  bool operator==(const CdnaPartsConfig&) const = default;
};
constexpr uint32_t kPartsThreads = 256;  // of the blocks that add up parts

// Parts of K for blocks that share it: each leaves its part's sums in memory; another launch adds them in their order.
struct CdnaParts {
  uint64_t sums = 0;     // address of f32 [part, token, row of w's tiles]; 0: no parts
  uint32_t count = 1;    // of parts
  uint32_t chunks = 0;   // of K in each part; the last may have fewer
  uint32_t columns = 0;  // from one row of sums to the next
  Divisor quads;         // a token's quads of neighbouring columns of out, without upper partners
};

// w is packed as tiles of kCdnaTile rows, in the order in which blocks take them; a tile has chunks of K, and a chunk
// has 16 bytes for each lane: those of row lane % 16 from byte 16 (lane / 16) on. Zeros stand beyond the ends of w.
struct LinearCdnaArguments {
  uint64_t x = 0, w = 0;         // addresses
  uint32_t x_stride = 0;         // bytes from row to row; a multiple of 16
  uint32_t m = 0, n = 0, k = 0;  // n: a multiple of 4; k: a multiple of 16 bytes
  uint32_t chunks = 0;           // of K; the last may not be whole
  uint32_t tile_bytes = 0;       // of a tile of w
  uint32_t waves = 0;            // of a block of a skinny product: 1, 2, 4 or 8
  uint32_t chunks_of_wave = 0;   // the most chunks of a wave; a wave begins behind the chunks of the waves before it
  LinearPrologue begin;
  LinearEpilogue end;               // strides are multiples of 4
  uint32_t w_tiles = 0;             // tiles of kCdnaTile rows
  DieTiles tiles;                   // of a wide product: the tiles of all parts of K
  Divisor part_tiles, token_tiles;  // the tiles of a part, and the tiles along the tokens
  CdnaParts parts;
};

}  // namespace rung::gpu

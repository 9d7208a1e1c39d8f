// The argument of the wide linear kernels and the cut of the work that it describes, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tensor_map.hpp"
#include "device/gpu/tile_map.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

constexpr int32_t kWideRowBytes = 128;      // of a row of x or w in a chunk of K
constexpr int32_t kWideGroups = 2;          // warpgroups that multiply, each with its own rows of w
constexpr int32_t kWideThreads = 384;       // of a block; the last warpgroup fetches
constexpr int32_t kWideMaxStages = 8;       // of the ring
constexpr int32_t kWideLead = 3;            // chunks that one warpgroup is ahead of the other in a gated product
constexpr int32_t kWideMostSums = 32;       // chunks of floats of 8 bits, 4096 of K, whose sums need no promotion
constexpr int32_t kWideHeaderBytes = 1024;  // barriers, in front of the ring

// The order of tiles. Blocks that run at once share what they read through the L2 cache, so tokens that it cannot hold
// are cut into bands: all rows of w meet the first band's tokens, then the next one's. In a band tiles go along the
// tokens.
struct WideOrder {
  Divisor band, last_band, tiles_of_band;  // token tiles of a band, and of the last one; tiles of a band
  uint32_t whole_bands = 0;

  struct Place {
    int32_t row, token;  // numbers of tiles
  };

  WideOrder() = default;
  WideOrder(int32_t token_tiles, int32_t row_tiles, int32_t of_band)
      : band(static_cast<uint32_t>(of_band)),
        last_band(static_cast<uint32_t>(token_tiles % of_band == 0 ? of_band : token_tiles % of_band)),
        tiles_of_band(static_cast<uint32_t>(row_tiles * of_band)),
        whole_bands(static_cast<uint32_t>(token_tiles / of_band)) {}
  RUNG_HOST_DEVICE Place of(int32_t tile) const {
    const uint32_t number = tiles_of_band.divide(static_cast<uint32_t>(tile));
    const uint32_t in_band = static_cast<uint32_t>(tile) - number * tiles_of_band.value;
    const Divisor& width = number < whole_bands ? band : last_band;
    const uint32_t row = width.divide(in_band);
    return {static_cast<int32_t>(row), static_cast<int32_t>(number * band.value + in_band - row * width.value)};
  }
};

// A tile is some rows of w by some tokens. When gated or rotated, eight rows of w are followed by their partners: the
// same eight of up, or of the head's upper half.
struct LinearWideArguments {
  TileMap w;             // {k, 8, halves, groups of 8 in a half, heads}
  TensorMap x;           // boxes of a tile's tokens
  LinearEpilogue end;    // strides are multiples of 4; angles are f32, or of x's type
  int32_t m = 0, n = 0;  // n: a multiple of 8
  int32_t chunks = 0;    // of K
  int32_t stages = 0;    // of the ring
  int32_t tiles = 0;
  int32_t split = 1;  // blocks that share K, a cluster: 1 or 2
  WideOrder order;
};

// The end of a layer; each has its own kernels. 16 bits stand for x's type, or for bf16 if x has 8 bits. Ends other
// than `any` have no activation beside the one in their name, and ends other than `any` and the sums no residual. Where
// x has 8 bits, results that are only rounded or gated may be f8e4m3fn, too, and i8 if x is.
//   rounded                 a result of 16 bits as it is
//   gelu, gelu_tanh         a result of 16 bits after that activation
//   sum, sum_16             a residual and a result in f32, or both of 16 bits
//   rotated, rotated_f32    16 bits, the first heads rotated (RoPE) by angles of 16 bits or in f32
//   gated_gelu, gated_silu  16 bits
enum class WideEpilogue : uint8_t {
  any,
  rounded,
  gelu,
  gelu_tanh,
  sum,
  sum_16,
  rotated,
  rotated_f32,
  gated_gelu,
  gated_silu
};

// Returns the type of the 16-bit operands and results beside x and w of a type.
constexpr DType wide_narrow(DType type) { return type == DType::f8e4m3fn || type == DType::i8 ? DType::bf16 : type; }

// A variant of the kernel: the type of x and w, rows of w and tokens of a tile, the blocks that share its K, the
// epilogue, and the type of results that are not f32. If two blocks share K, each multiplies half of K and finishes
// half of the tokens.
struct WideConfig {
  DType type;
  int32_t rows, tokens, split;
  WideEpilogue epilogue;
  DType out;
  bool operator==(const WideConfig&) const = default;

  constexpr DType narrow() const { return wide_narrow(type); }
  constexpr bool has_integers() const { return type == DType::i8; }
  constexpr bool has_8_bits() const { return type == DType::f8e4m3fn || has_integers(); }
  // Sums of products of floats of 8 bits are promoted to f32 where there are registers for both, 208 at most.
  constexpr bool promotes() const { return type == DType::f8e4m3fn && rows / (kWideGroups * 64) * tokens <= 208; }
  constexpr int32_t most_chunks() const {  // of K, whose products one sum can hold
    return type == DType::f8e4m3fn && !promotes() ? kWideMostSums : INT32_MAX;
  }
  constexpr bool to_integers() const { return out == DType::i8; }
  constexpr bool to_8_bits() const { return out == DType::f8e4m3fn || to_integers(); }
  constexpr DType staged() const { return to_8_bits() ? DType::f16 : out; }  // in shared memory; has all floats of out
  constexpr bool gated() const { return epilogue == WideEpilogue::gated_gelu || epilogue == WideEpilogue::gated_silu; }
  constexpr bool rotates() const { return epilogue == WideEpilogue::rotated || epilogue == WideEpilogue::rotated_f32; }
  constexpr int32_t first_half() const { return (tokens / 8 + 1) / 2 * 8; }  // tokens that the first block finishes
  constexpr int32_t stage_bytes() const { return (rows + tokens) * kWideRowBytes; }
  constexpr int32_t columns() const { return gated() ? rows / 2 : rows; }      // of out
  constexpr int32_t group_columns() const { return columns() / kWideGroups; }  // of a warpgroup

  // Results leave through shared memory, with a row for each token: f32 sums, or results that are only rounded, take
  // the place of the ring; rounded gated results have their own place, for half of the tokens at a time. Pitches keep
  // the banks apart.
  constexpr int32_t rounded_pitch() const { return (group_columns() + 8) * 2; }
  constexpr int32_t pitch() const { return gated() ? rounded_pitch() : (group_columns() + 4) * 4; }
  constexpr int32_t piece_tokens() const { return gated() ? first_half() : tokens; }
  constexpr int32_t piece_bytes() const { return piece_tokens() * pitch(); }      // of a warpgroup
  constexpr int32_t half_bytes() const { return first_half() * pitch(); }         // of a warpgroup, if K is split
  constexpr int32_t least_stages() const { return gated() ? kWideLead + 1 : 2; }  // the ring must hold the lead
  constexpr int32_t shared_bytes(int32_t stages) const {
    const int32_t ring = stages * stage_bytes();
    const int32_t pieces = kWideGroups * (split > 1 ? 3 * half_bytes() : piece_bytes());
    return kWideHeaderBytes + (gated() ? ring + pieces : ring > pieces ? ring : pieces);
  }
};

}  // namespace rung::gpu

// The configurations, the argument and the cut of work of the skinny linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tensor_map.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kSkinnyTokens = 64;  // the most tokens of a tile; those of one matrix instruction
constexpr uint32_t kSkinnyMaxSplit = 8;
constexpr uint32_t kSkinnyMaxStages = 16;
constexpr uint32_t kSkinnyThreads = 256;       // a warpgroup multiplies, a warp fetches w, another x; all finish
constexpr uint32_t kSkinnyHeaderBytes = 1024;  // barriers, in front of the rings

// The end of a layer; each has its own kernels. Ends without `any` are the most frequent ones, in short code and only
// for bf16 and 8 bits: sums that feed a norm, without bias, activation and factor, with an f32 residual; pairs without
// bias and residual, with angles in f32.
enum class SkinnyEpilogue : uint8_t { any, norm, norm_any, gated, gated_any, rotated, rotated_any };

// A variant of the kernel: the type of x and w, rows of w of a tile, the blocks that share its K, and the epilogue.
struct SkinnyConfig {
  DType type;
  uint32_t rows, split;
  SkinnyEpilogue epilogue;
  bool operator==(const SkinnyConfig&) const = default;
};

// A tile is some tokens by some rows of w, or by some and their partners. The blocks of a cluster take one part of K
// each, in chunks of 128 bytes, and finish groups of 8 tokens in turns.
struct LinearSkinnyArguments {
  TensorMap x, w;  // boxes of `tokens` rows of x; of the rows of a tile of w, or of half of them
  LinearPrologue begin;
  LinearEpilogue end;                   // strides are multiples of 4
  uint32_t m = 0, n = 0;                // n: a multiple of 4
  uint32_t tokens = 0;                  // of a tile; a multiple of 8
  uint32_t chunks = 0;                  // of K
  uint32_t x_stages = 0, w_stages = 0;  // of the two rings; at least 2
  uint32_t throttle_ns = 0;             // between two chunks of weights, while their ring fills for the first time
};

constexpr uint32_t skinny_box_bytes(uint32_t rows) { return rows * kBoxColumns * 2; }
// Returns the bytes from one token's sums, of `rows` weights, to the next: a pitch that keeps the banks apart.
constexpr uint32_t skinny_pitch(uint32_t rows) { return (rows + 8) * 4; }

struct SkinnyShared {
  uint32_t rows, tokens, split, x_stages, w_stages;
  constexpr uint32_t ring_bytes() const {
    return x_stages * skinny_box_bytes(tokens) + w_stages * skinny_box_bytes(rows);
  }
  // The inbox has the sums of the cluster's other blocks for the groups of tokens that this one finishes.
  constexpr uint32_t inbox_bytes() const {
    const uint32_t groups = (tokens / 8 + split - 1) / split;
    return (split - 1) * groups * 8 * skinny_pitch(rows);
  }
  // The matrix instruction reads kSkinnyTokens tokens even of the last stage of x; this block's sums take the place of
  // the rings.
  constexpr uint32_t bytes() const {
    const uint32_t read = (x_stages - 1) * skinny_box_bytes(tokens) + skinny_box_bytes(kSkinnyTokens);
    const uint32_t sums = tokens * skinny_pitch(rows), rings = ring_bytes() > read ? ring_bytes() : read;
    return kSkinnyHeaderBytes + (rings > sums ? rings : sums) + inbox_bytes();
  }
};

}  // namespace rung::gpu

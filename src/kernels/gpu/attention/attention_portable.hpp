// Shape of the portable attention kernel's blocks, as the host launches them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

inline constexpr int kPortableAttentionWarps = 4;
inline constexpr int kPortableAttentionRows = 16;  // packed query rows of a block

// `width` is that of the kernel (64, 128, 256), not the heads': a key and a value for each lane, all queries, in f32.
constexpr uint32_t portable_attention_shared_bytes(int width, int lanes) {
  return static_cast<uint32_t>(sizeof(float)) *
         static_cast<uint32_t>(2 * lanes * (width + 4) + kPortableAttentionRows * width);
}

}  // namespace rung::gpu

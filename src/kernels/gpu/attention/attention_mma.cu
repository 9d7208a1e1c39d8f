// Attention with matrix instructions, for bf16 and f16: one kernel for each head width and way to split a block.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_mma.cuh"

namespace rung::gpu {

template <int width, int row_warps, int key_warps>
constexpr MmaAttentionShape kShape{width, row_warps, key_warps, kLanes};

#define RUNG_ATTENTION(type, width, row_warps, key_warps)                                                        \
  RUNG_KERNEL((kShape<width, row_warps, key_warps>.threads()))                                                   \
      attention_mma_##type##_##width##_##row_warps##x##key_warps(const __grid_constant__ AttentionArguments a) { \
    attention_mma<type, kShape<width, row_warps, key_warps>>(a);                                                 \
  }
#define RUNG_ATTENTION_SPLITS(type, width) \
  RUNG_ATTENTION(type, width, 4, 1)        \
  RUNG_ATTENTION(type, width, 2, 2)        \
  RUNG_ATTENTION(type, width, 1, 4)
#define RUNG_ATTENTION_WIDTHS(type) \
  RUNG_ATTENTION_SPLITS(type, 32)   \
  RUNG_ATTENTION_SPLITS(type, 64)   \
  RUNG_ATTENTION_SPLITS(type, 80)   \
  RUNG_ATTENTION_SPLITS(type, 128)  \
  RUNG_ATTENTION_SPLITS(type, 256)

RUNG_ATTENTION_WIDTHS(bf16)
RUNG_ATTENTION_WIDTHS(f16)

}  // namespace rung::gpu

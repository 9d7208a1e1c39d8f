// Attention with matrix instructions for bf16 and f16: one kernel for each head width and way to split a block.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_mma.cuh"

namespace rung::gpu {

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL((MmaAttentionConfig{__VA_ARGS__}.threads(kLanes))) \
      entry(const __grid_constant__ AttentionArguments a) { attention_mma<MmaAttentionConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_mma.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu

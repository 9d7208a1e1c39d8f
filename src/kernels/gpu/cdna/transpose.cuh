// Transposes small matrices of 16-bit elements in a lane's registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Returns the lower or the upper halves of two words, with the first word's half below.
template <bool upper>
__device__ inline uint32_t join_halves(uint32_t first, uint32_t second) {
  return __builtin_amdgcn_perm(second, first, upper ? 0x07060302u : 0x05040100u);
}

// rows[i] has eight elements; columns[d] gets element d of each row, two to a word.
template <int count>
__device__ inline void transpose_halves(uint32_t (&columns)[8][count / 2], const uint4 (&rows)[count]) {
#pragma unroll
  for (int i = 0; i < count / 2; ++i) {
    uint32_t first[4], second[4];
    __builtin_memcpy(first, &rows[2 * i], sizeof first);
    __builtin_memcpy(second, &rows[2 * i + 1], sizeof second);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      columns[2 * w][i] = join_halves<false>(first[w], second[w]);
      columns[2 * w + 1][i] = join_halves<true>(first[w], second[w]);
    }
  }
}

}  // namespace rung::gpu

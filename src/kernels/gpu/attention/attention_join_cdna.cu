// Adds up the results of blocks that split the keys of a row, in the blocks' order.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_values_cdna.cuh"

namespace rung::gpu {
namespace {

// Each thread adds up four columns of a row.
template <DType type>
__device__ inline void attention_join_cdna(const CdnaAttentionArguments& a) {
  const int columns = a.attention.width / 4, count = a.attention.queries * a.attention.ratio;
  const uint32_t unit = blockIdx.x * kJoinThreads + threadIdx.x;
  const int all = static_cast<int>(unit / columns), d = static_cast<int>(unit % columns) * 4, head = all / count;
  if (head >= a.attention.batch * a.attention.groups) return;
  Running total;
  for (int split = 0; split < static_cast<int>(a.splits); ++split)
    total.raise(CdnaPartial(a, split, all).statistics()->x);
  float4 sum{};
  for (int split = 0; split < static_cast<int>(a.splits); ++split) {
    const CdnaPartial partial(a, split, all);
    const float2 one = *partial.statistics();
    const float4 x = *reinterpret_cast<const float4*>(partial.sums() + d);
    const float weight = total.weight(one.x);
    total.sum += one.y * weight;
    sum = {sum.x + weight * x.x, sum.y + weight * x.y, sum.z + weight * x.z, sum.w + weight * x.w};
  }
  store_result<type>({a.attention, head / a.attention.groups, head % a.attention.groups}, all % count, d, sum, total);
}

}  // namespace

RUNG_KERNEL(kJoinThreads) attention_join_cdna_bf16(const __grid_constant__ CdnaAttentionArguments a) {
  attention_join_cdna<DType::bf16>(a);
}
RUNG_KERNEL(kJoinThreads) attention_join_cdna_f16(const __grid_constant__ CdnaAttentionArguments a) {
  attention_join_cdna<DType::f16>(a);
}

}  // namespace rung::gpu

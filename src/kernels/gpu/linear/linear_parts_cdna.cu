// Ends linear layers on CDNA whose blocks left the sums of parts of K: a thread adds up four neighbouring columns of a
// token, part after part, and, for pairs, their partners.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_cdna.cuh"

namespace rung::gpu {
namespace {

__device__ float4 sum_of_parts(const LinearCdnaArguments& a, uint32_t token, uint32_t column) {
  const float* from = &element<const float>(a.parts.sums, int64_t{token} * a.parts.columns + column);
  Float4 total = *reinterpret_cast<const Float4*>(from);
#pragma unroll 4
  for (uint32_t part = 1; part < a.parts.count; ++part)
    total += *reinterpret_cast<const Float4*>(from + int64_t{part} * a.m * a.parts.columns);
  return {total.x, total.y, total.z, total.w};
}

template <CdnaEpilogue epilogue, bool scales>
__device__ void linear_parts_cdna(const LinearCdnaArguments& a) {
  const uint32_t at = blockIdx.x * kPartsThreads + threadIdx.x, token = a.parts.quads.divide(at);
  if (token >= a.m) return;
  // `lower` counts the columns of out without upper partners; in the sums partners are neighbouring tiles.
  const uint32_t lower = (at - token * a.parts.quads.value) * 4;
  const uint32_t column = is_paired(epilogue) ? lower / kCdnaTile * 2 * kCdnaTile + lower % kCdnaTile : lower;
  const CdnaEnd<epilogue, scales> end{a};
  const float4 partner = is_paired(epilogue) ? sum_of_parts(a, token, column + kCdnaTile) : float4{};
  end.finish(a.end.activation, {token, end.column_of(lower)}, sum_of_parts(a, token, column), partner);
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                            \
  RUNG_KERNEL(kPartsThreads) entry(const __grid_constant__ LinearCdnaArguments a) { \
    constexpr CdnaPartsConfig config{__VA_ARGS__};                          \
    linear_parts_cdna<config.epilogue, config.scales>(a);                   \
  }
#include "kernels/gpu/linear/linear_parts_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu

// Row of the attention kernels with matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_mma.hpp"

#include "kernels/gpu/attention/attention.hpp"

namespace rung::gpu {
namespace {

constexpr int kWarps = 4;

int padded_width(int64_t width) {
  for (int padded : {32, 64, 80, 128})
    if (width <= padded) return padded;
  return 256;
}

// The fewest warps on the same rows that still make `enough` blocks.
int64_t default_key_warps(const Problem& problem) {
  constexpr int64_t enough = 96;
  const AttentionShape shape(problem);
  for (int64_t key_warps : {1, 2})
    if (shape.rows() * key_warps / (16 * kWarps) * shape.groups * shape.batch >= enough) return key_warps;
  return 4;
}

std::vector<Tunable> tunables(const Problem& problem, const Machine&) {
  Tunable key_warps{"key_warps", {default_key_warps(problem)}};
  for (int64_t warps : {1, 2, 4})
    if (warps != key_warps.values[0]) key_warps.values.push_back(warps);
  return {key_warps};
}

Status enqueue(const Call& call) {
  const int key_warps = static_cast<int>(call.problem.param("key_warps", default_key_warps(call.problem)));
  const MmaAttentionShape shape{padded_width(AttentionShape(call.problem).width), kWarps / key_warps, key_warps,
                                call.gpu.info().lanes};
  Launch launch = attention_launch(call, shape.rows());
  launch.block = {static_cast<uint32_t>(shape.threads())};
  launch.shared_bytes = shape.shared_bytes();
  return call.launch("attention_mma",
                     fmt::format("attention_mma_{}_{}_{}x{}", attention_type(call.problem), shape.width,
                                 shape.row_warps, shape.key_warps),
                     launch, attention_arguments(call));
}

}  // namespace

extern const Kernel attention_mma;
const Kernel attention_mma{.name = "attention_mma",
                           .op = "attention",
                           .supports = supports_matrix_attention,
                           .tunables = tunables,
                           .alignment = 16,
                           .enqueue = enqueue};

}  // namespace rung::gpu

// Row of the attention kernel for many query rows of wide heads, in which two warpgroups split the keys.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention_pair.hpp"

#include "kernels/gpu/attention.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_matrix_attention(problem, machine); !verdict) return verdict;
  if (machine.gpu.architecture != 90) return reject("built for compute capability 9.0");
  if (AttentionShape(problem).width <= 128) return reject("heads not wider than 128");
  return accept();
}

Status enqueue(const Call& call) {
  RUNG_CHECK(check_alignment(call));
  Launch launch = attention_launch(call, PairAttention::kRows);
  launch.block = {PairAttention::kThreads};
  launch.shared_bytes = PairAttention::kSharedBytes;
  return call.launch("attention_pair_sm90", fmt::format("attention_pair_{}", attention_type(call.problem)), launch,
                     attention_arguments(call));
}

}  // namespace

extern const Kernel attention_pair;
const Kernel attention_pair{
    .name = "attention_pair", .op = "attention", .supports = supports, .alignment = 16, .enqueue = enqueue};

}  // namespace rung::gpu

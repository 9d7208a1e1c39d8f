// Row of the attention kernel that splits the keys over a cluster.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention_split.hpp"

#include "kernels/gpu/attention.hpp"

namespace rung::gpu {
namespace {

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_matrix_attention(problem, machine); !verdict) return verdict;
  if (!machine.gpu.clusters) return reject("no thread-block clusters");
  const AttentionShape shape(problem);
  if (shape.width <= 128) return reject("heads not wider than 128");
  constexpr int64_t most = SplitAttention::kBlocks * SplitAttention::kMaxKeys;
  if (shape.keys > most) return reject(fmt::format("more than {} keys", most));
  return accept();
}

Status enqueue(const Call& call) {
  RUNG_CHECK(check_alignment(call));
  const AttentionArguments arguments = attention_arguments(call);
  Launch launch = attention_launch(call, SplitAttention::kRows, SplitAttention::kBlocks);
  launch.block = {SplitAttention::kThreads};
  launch.cluster = {SplitAttention::kBlocks};
  launch.shared_bytes = SplitAttention::shared_bytes(arguments.keys);
  return call.launch("attention_split_sm90", fmt::format("attention_split_{}", attention_type(call.problem)), launch,
                     arguments);
}

}  // namespace

extern const Kernel attention_split;
const Kernel attention_split{.name = "attention_split", .op = "attention", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

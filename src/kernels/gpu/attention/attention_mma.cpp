// The row of the attention kernels with matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_mma.hpp"

#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = MmaAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_mma.inc"
};

// Returns the narrowest variants that hold a head and fit in shared memory: one for each way to split a block.
std::vector<Variant<Config>> variants_for(const Problem& problem, const GpuInfo& gpu) {
  const int64_t width = AttentionShape(problem).width;
  const DType key_type = key_type_of(problem);
  std::vector<Variant<Config>> narrowest;
  for (const auto& each : kVariants) {
    if (each.config.type != problem.output.dtype || each.config.key_type != key_type || each.config.width < width)
      continue;
    if (!narrowest.empty() && each.config.width > narrowest[0].config.width) break;
    narrowest.push_back(each);
  }
  std::erase_if(narrowest, [&](const auto& each) { return !supports_shared_bytes(each.config.shared_bytes(), gpu); });
  return narrowest;
}

// Returns the fewest warps on the same rows that still make blocks for three quarters of the machine.
int64_t default_key_warps(const Problem& problem, const GpuInfo& gpu) {
  const int64_t enough = blocks_at_once(gpu) * 3 / 4;
  const AttentionShape shape(problem);
  int64_t most = 1;
  for (const auto& [config, symbol] : variants_for(problem, gpu)) {
    if (shape.rows() / config.rows() * shape.groups * shape.batch >= enough) return config.key_warps;
    most = config.key_warps;
  }
  return most;
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  std::vector<int64_t> key_warps{default_key_warps(problem, machine.gpu)};
  for (const auto& [config, symbol] : variants_for(problem, machine.gpu))
    if (config.key_warps != key_warps[0]) key_warps.push_back(config.key_warps);
  return {{"key_warps", key_warps}};
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_matrix_attention(problem, machine); !verdict) return verdict;
  if (auto verdict = supports_plain_result(problem); !verdict) return verdict;
  if (!variants_for(problem, machine.gpu).empty()) return accept();
  return reject(fmt::format("no kernel of this type and width for blocks with {} bytes of shared memory",
                            machine.gpu.shared_bytes_per_block));
}

Status enqueue(const Call& call) {
  const GpuInfo& gpu = call.gpu.info();
  const int64_t key_warps = call.problem.param("key_warps", default_key_warps(call.problem, gpu));
  for (const auto& [config, symbol] : variants_for(call.problem, gpu)) {
    if (config.key_warps != key_warps) continue;
    Launch launch = attention_launch(call, config.rows());
    launch.block = {static_cast<uint32_t>(config.threads(gpu.lanes))};
    launch.shared_bytes = config.shared_bytes();
    return call.launch("attention_mma", symbol, launch, attention_arguments(call));
  }
  return call.no_kernel("attention_mma");
}

}  // namespace

extern const Kernel attention_mma;
const Kernel attention_mma{.name = "attention_mma",
                           .op = "attention",
                           .supports = supports,
                           .tunables = tunables,
                           .alignment = 16,
                           .enqueue = enqueue};

}  // namespace rung::gpu

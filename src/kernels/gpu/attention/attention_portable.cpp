// Row of the portable attention kernel.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_portable.hpp"

#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = PortableAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_portable.inc"
};

// The narrowest that holds a head.
const Variant<Config>* variant_for(const Problem& problem) {
  const int64_t width = AttentionShape(problem).width;
  return find(kVariants, [&](const Config& c) { return c.type == problem.output.dtype && c.width >= width; });
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_attention(problem, machine); !verdict) return verdict;
  const auto* variant = variant_for(problem);
  if (!variant) return reject("no kernel is compiled for this type and width");
  return supports_shared_bytes(variant->config.shared_bytes(machine.gpu.lanes), machine.gpu);
}

Status enqueue(const Call& call) {
  const auto& [config, symbol] = *variant_for(call.problem);
  Launch launch = attention_launch(call, Config::kRows);
  const int lanes = call.gpu.info().lanes;
  launch.block = {static_cast<uint32_t>(Config::threads(lanes))};
  launch.shared_bytes = config.shared_bytes(lanes);
  return call.launch("attention_portable", symbol, launch, attention_arguments(call));
}

}  // namespace

extern const Kernel attention_portable;
const Kernel attention_portable{
    .name = "attention_portable", .op = "attention", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

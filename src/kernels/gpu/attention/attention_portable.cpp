// The row of the portable attention kernel.
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

// Returns the narrowest variant that holds a head.
constexpr const Variant<Config>* variant_of(DType type, DType key_type, int64_t width) {
  return find(kVariants, [&](const Config& c) { return c.type == type && c.key_type == key_type && c.width >= width; });
}
// Returns whether there is a variant for every width that supports_attention() accepts.
constexpr bool is_compiled(DType type) {
  return variant_of(type, type, kMaxAttentionWidth) && variant_of(type, DType::f8e4m3fn, kMaxAttentionWidth);
}
static_assert(is_compiled(DType::f32) && is_compiled(DType::bf16) && is_compiled(DType::f16));
const Variant<Config>& variant_for(const Problem& problem) {
  return *variant_of(problem.inputs[0].dtype, key_type_of(problem), AttentionShape(problem).width);
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_attention(problem, machine); !verdict) return verdict;
  return supports_shared_bytes(variant_for(problem).config.shared_bytes(machine.gpu.lanes), machine.gpu);
}

Status enqueue(const Call& call) {
  const auto& [config, symbol] = variant_for(call.problem);
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

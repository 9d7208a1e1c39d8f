// Row of the portable attention kernel.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_portable.hpp"

#include "kernels/gpu/attention/attention.hpp"

namespace rung::gpu {
namespace {

Status enqueue(const Call& call) {
  const int64_t width = AttentionShape(call.problem).width;
  const int padded = width <= 64 ? 64 : width <= 128 ? 128 : 256;
  Launch launch = attention_launch(call, kPortableAttentionRows);
  const int lanes = call.gpu.info().lanes;
  launch.block = {static_cast<uint32_t>(kPortableAttentionWarps * lanes)};
  launch.shared_bytes = portable_attention_shared_bytes(padded, lanes);
  return call.launch("attention_portable",
                     fmt::format("attention_portable_{}_{}", attention_type(call.problem), padded), launch,
                     attention_arguments(call));
}

}  // namespace

extern const Kernel attention_portable;
const Kernel attention_portable{
    .name = "attention_portable", .op = "attention", .supports = supports_attention, .enqueue = enqueue};

}  // namespace rung::gpu

// The row of group norms.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/norm/group_norm.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<GroupNormConfig> kVariants[] = {
#include "kernels/gpu/norm/group_norm.inc"
};

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  if (!p.inputs[0].contiguous()) return reject("x is not dense");
  return supports_count(p.output.shape);
}

Status enqueue(const Call& call) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Problem& p = call.problem;
  const Shape& shape = p.output.shape;
  if (shape.product() == 0) return {};
  const auto& op = p.as<GroupNorm>();
  GroupNormArguments a{.x = call.inputs[0], .out = call.output, .type = p.inputs[0].dtype, .out_type = p.output.dtype};
  a.channels = size(shape.back()), a.places = size(shape.product() / shape[0] / shape.back());
  a.groups = size(op.groups), a.run = a.channels / a.groups, a.eps = op.eps;
  const auto fits = [&](const GroupNormConfig& config) {
    const auto unit = static_cast<uint32_t>(config.unit);
    return a.run % unit == 0 && (config.held == 0 || a.places * (a.run / unit) <= config.most_units());
  };
  const auto& [config, symbol] = *find(kVariants, fits);  // the last one takes any group
  const auto unit = static_cast<uint32_t>(config.unit), lanes = size(call.gpu.info().lanes);
  a.units = a.places * (a.run / unit), a.units_of_run = Divisor(a.run / unit);
  const uint32_t threads = std::min(round_up(a.units, lanes), config.most_threads());
  return call.launch("group_norm", symbol, launch_threads(call, shape[0] * op.groups * threads, threads), a);
}

}  // namespace

extern const Kernel group_norm_gpu{
    .name = "group_norm_gpu", .op = "group_norm", .supports = supports, .alignment = 16, .enqueue = enqueue};

}  // namespace rung::gpu

// The rows that take every linear and matmul, whatever its types and strides; they are slow, and always there.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"
#include "kernels/gpu/linear/matmul_batch.hpp"
#include "kernels/linear_shape.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTileRows = 65535;  // of a grid

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  if (p.output.shape.product() / std::max<int64_t>(p.output.shape.back(), 1) > kMostTileRows * int64_t{kTile})
    return reject(fmt::format("more than {} rows", kMostTileRows * int64_t{kTile}));
  if (as<Linear>(p.op))
    if (auto verdict = supports_slots(p, kSlotsButNorms); !verdict) return verdict;
  return supports_count(p.output.shape);
}

Dims first(const Dims& dims, int count) { return Dims(std::span(dims.begin(), static_cast<size_t>(count))); }

Status launch_tiles(const Call& call, const TiledArguments& a) {
  Launch shape{.grid = {(a.n + kTile - 1) / kTile, (a.m + kTile - 1) / kTile, std::min<uint32_t>(a.batch.count, 65535)},
               .block = {256},
               .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_tiled", a.end.gated || a.end.rotated > 0 ? "tiled_pairs" : "tiled", shape, a);
}

TiledArguments base_arguments(const Call& call) {
  const Problem& p = call.problem;
  TiledArguments a{};
  a.x = call.inputs[0], a.w = call.inputs[1];
  a.x_type = p.inputs[0].dtype, a.w_type = p.inputs[1].dtype;
  a.x_step = p.inputs[0].strides.back(), a.k = static_cast<uint32_t>(p.inputs[0].shape.back());
  return a;
}

Status enqueue_linear(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  LinearShape shape(p);
  TiledArguments a = base_arguments(call);
  a.w_row = p.inputs[1].strides[0], a.w_step = p.inputs[1].strides[1];
  a.m = static_cast<uint32_t>(shape.m), a.n = static_cast<uint32_t>(shape.n);
  a.end = epilogue_of(call);
  int leading = p.output.shape.rank() - 1;
  Strides x = first(p.inputs[0].strides, leading), residual = x, cos = x, sin = x;
  if (const Operand* bias = p.linear_operand(LinearSlot::bias)) a.bias_step = bias->strides[0];
  const auto walk = [&](LinearSlot slot, Strides& rows, int64_t& step) {
    if (const Operand* operand = p.linear_operand(slot))
      rows = first(operand->strides, leading), step = operand->strides.back();
  };
  walk(LinearSlot::residual, residual, a.residual_step);
  walk(LinearSlot::cos, cos, a.cos_step), walk(LinearSlot::sin, sin, a.sin_step);
  a.rows = make_nest<4>(collapse(first(p.output.shape, leading), std::array{x, residual, cos, sin}));
  return launch_tiles(call, a);
}

Status enqueue_matmul(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  const Strides &x = p.inputs[0].strides, &y = p.inputs[1].strides;
  MatMulShape shape(p);
  TiledArguments a = base_arguments(call);
  a.w_row = y.back(), a.w_step = y.back(1);
  a.m = static_cast<uint32_t>(shape.m), a.n = static_cast<uint32_t>(shape.n);
  a.end.out = call.output, a.end.out_type = p.output.dtype;
  const Strides none{0};
  a.rows = make_nest<4>(collapse(Shape{shape.m}, std::array{Strides{x.back(1)}, none, none, none}));
  a.batch = batch_of(p);
  return launch_tiles(call, a);
}

}  // namespace

extern const Kernel linear_tiled{
    .name = "linear_tiled", .op = "linear", .supports = supports, .enqueue = enqueue_linear, .role = Role::fallback};
extern const Kernel matmul_tiled{
    .name = "matmul_tiled", .op = "matmul", .supports = supports, .enqueue = enqueue_matmul, .role = Role::fallback};

}  // namespace rung::gpu

// The rows that take every linear and matmul, whatever its types and strides; they are slow, and always there.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/linear/linear_tiled_operands.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTileRows = 65535;  // of a grid
constexpr LinearSlots kSlotsOfGroupsAndHeads{LinearSlot::bias,        LinearSlot::residual, LinearSlot::cos,
                                             LinearSlot::sin,         LinearSlot::scale,    LinearSlot::group_scale,
                                             LinearSlot::group_offset};

bool is_grouped(const Problem& p) { return as<Linear>(p.op) && p.as<Linear>().has(LinearSlot::group_scale); }
Verdict supports_grouped(const Problem& p) {
  if (auto verdict = supports_slots(p, kSlotsOfGroupsAndHeads); !verdict) return verdict;
  for (const LinearSlot slot : {LinearSlot::scale, LinearSlot::group_scale, LinearSlot::group_offset})
    if (const Operand* operand = p.linear_operand(slot); operand && !operand->contiguous())
      return reject(fmt::format("{} is not dense", name_of(slot)));
  if (p.linear_operand(LinearSlot::group_scale)->dtype == DType::f32)
    return reject("the scales of groups are f32, wanted i8");
  for (const LinearSlot slot :
       {LinearSlot::x, LinearSlot::bias, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin})
    if (const Operand* operand = p.linear_operand(slot); operand && !is_computed_float(operand->dtype))
      return reject(fmt::format("{} is {}", name_of(slot), name_of(operand->dtype)));
  return is_computed_float(p.output.dtype) ? accept() : reject(fmt::format("result is {}", name_of(p.output.dtype)));
}

Verdict supports(const Problem& p, const Machine& machine) {
  const bool grouped = is_grouped(p), has_bytes = grouped || has_8_bits(p);
  if (grouped) {
    if (auto verdict = supports_grouped(p); !verdict) return verdict;
  } else if (has_bytes) {
    if (auto verdict = supports_widened(p, machine.gpu); !verdict) return verdict;
  } else if (auto verdict = supports_types(p, is_computed_float); !verdict) {
    return verdict;
  }
  const int64_t most = kMostTileRows * int64_t{has_bytes ? kSmallTile : kTile};
  if (p.output.shape.product() / std::max<int64_t>(p.output.shape.back(), 1) > most)
    return reject(fmt::format("more than {} rows", most));
  if (as<Linear>(p.op) && !has_bytes)
    if (auto verdict = supports_slots(p, kSlotsButNorms); !verdict) return verdict;
  return supports_count(p.output.shape);
}

// Tiles are small where large ones would leave multiprocessors idle, and for operands of 8 bits, which are rare.
Status launch_groups(const Call& call, const TiledArguments& a) {
  const Problem& p = call.problem;
  const auto groups = static_cast<uint32_t>(p.linear_operand(LinearSlot::group_scale)->shape.back());
  const TiledGroupArguments grouped{.of = a,
                                    .scale = address_of(call, LinearSlot::group_scale),
                                    .offset = address_of(call, LinearSlot::group_offset),
                                    .columns = a.k / groups};
  const Launch shape{.grid = {divide_up(a.n, kSmallTile), divide_up(a.m, kSmallTile)},
                     .block = {256},
                     .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_tiled", has_pairs(a) ? "linear_tiled_pairs_groups" : "linear_tiled_groups", shape,
                     grouped);
}

Status launch_tiles(const Call& call, const TiledArguments& a) {
  const int64_t large = int64_t{divide_up(a.n, kTile)} * divide_up(a.m, kTile) * a.batch.count;
  const bool has_bytes = has_8_bits(call.problem), is_small = has_bytes || large < call.gpu.info().multiprocessors;
  const uint32_t side = is_small ? kSmallTile : kTile;
  const Launch shape{.grid = {divide_up(a.n, side), divide_up(a.m, side), std::min<uint32_t>(a.batch.count, 65535)},
                     .block = {256},
                     .dependent = call.gpu.info().dependent_launch};
  const std::string_view alone = has_bytes ? "linear_tiled_bytes" : is_small ? "linear_tiled_32" : "linear_tiled_64";
  const std::string_view pairs = has_bytes  ? "linear_tiled_pairs_bytes"
                                 : is_small ? "linear_tiled_pairs_32"
                                            : "linear_tiled_pairs_64";
  return call.launch("linear_tiled", has_pairs(a) ? pairs : alone, shape, a);
}

Status enqueue_linear(const Call& call) {
  if (call.problem.output.shape.product() == 0) return {};
  return is_grouped(call.problem) ? launch_groups(call, tiled_linear(call)) : launch_tiles(call, tiled_linear(call));
}
Status enqueue_matmul(const Call& call) {
  return call.problem.output.shape.product() == 0 ? Status{} : launch_tiles(call, tiled_matmul(call));
}

}  // namespace

extern const Kernel linear_tiled{
    .name = "linear_tiled", .op = "linear", .supports = supports, .enqueue = enqueue_linear, .role = Role::fallback};
extern const Kernel matmul_tiled{
    .name = "matmul_tiled", .op = "matmul", .supports = supports, .enqueue = enqueue_matmul, .role = Role::fallback};

}  // namespace rung::gpu

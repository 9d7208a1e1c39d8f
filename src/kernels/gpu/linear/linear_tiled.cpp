// The rows that take every linear and matmul, whatever its types and strides; they are slow, and always there.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/gpu/linear/linear_tiled_operands.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/linear_shape.hpp"

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

// Tiles are small where large ones would leave multiprocessors idle.
Status launch_tiles(const Call& call, const TiledArguments& a) {
  const int64_t large = int64_t{divide_up(a.n, kTile)} * divide_up(a.m, kTile) * a.batch.count;
  const bool is_small = large < call.gpu.info().multiprocessors;
  const uint32_t side = is_small ? kSmallTile : kTile;
  const Launch shape{.grid = {divide_up(a.n, side), divide_up(a.m, side), std::min<uint32_t>(a.batch.count, 65535)},
                     .block = {256},
                     .dependent = call.gpu.info().dependent_launch};
  const std::string_view alone = is_small ? "linear_tiled_32" : "linear_tiled_64";
  const std::string_view pairs = is_small ? "linear_tiled_pairs_32" : "linear_tiled_pairs_64";
  return call.launch("linear_tiled", has_pairs(a) ? pairs : alone, shape, a);
}

Status enqueue_linear(const Call& call) {
  return call.problem.output.shape.product() == 0 ? Status{} : launch_tiles(call, tiled_linear(call));
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

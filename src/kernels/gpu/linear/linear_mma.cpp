// The rows of products of 16-bit matrices whose rows have any length, by matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/linear/linear_mma_arguments.hpp"
#include "kernels/gpu/linear/linear_tiled_operands.hpp"
#include "kernels/gpu/linear/product_shape.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<MmaConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_mma.inc"
};
constexpr int64_t kMostTiles = 65535;  // of a grid, along rows and matrices

// The cut of a product into squares, by the problem's parameter "k_warps", or by default: warps share K where larger
// squares would be fewer than multiprocessors.
struct Cut : ProductShape {
  MmaConfig tile;
  std::vector<int64_t> k_warps;  // the default first

  Cut(const Problem& problem, const GpuInfo& gpu) : ProductShape(problem), tile{problem.inputs[1].dtype, 8, 1} {
    while (tile.vector > 1 && !has_vectors(problem)) tile.vector /= 2;
    const bool few = squares() < std::max(gpu.multiprocessors, 1);
    k_warps = few ? std::vector<int64_t>{kMmaWarps, 1} : std::vector<int64_t>{1, kMmaWarps};
    tile.k_warps = static_cast<int32_t>(problem.param("k_warps", k_warps.front()));
  }
  bool has_vectors(const Problem& problem) const {
    const int64_t bytes = tile.vector * 2;
    return k % tile.vector == 0 && has_aligned_lines(problem.inputs[0], x_axis, bytes) &&
           has_aligned_lines(problem.inputs[1], w_axis, bytes);
  }
  int64_t rows() const { return divide_up<int64_t>(m, tile.side()); }
  int64_t columns() const { return divide_up<int64_t>(n, tile.side()); }
  int64_t squares() const { return rows() * columns() * count; }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  const DType type = problem.inputs[0].dtype;
  if (!is_narrow(type) || problem.inputs[1].dtype != type) return reject("x and w are not both bf16 or both f16");
  if (auto verdict = supports_types(problem, is_computed_float); !verdict) return verdict;
  if (const auto* linear = as<Linear>(problem.op)) {
    if (auto verdict = supports_slots(problem, {LinearSlot::bias, LinearSlot::residual}); !verdict) return verdict;
    if (linear->epilogue.gated) return reject("gated");
    if (!problem.inputs[0].is_rows()) return reject("x is not made of dense rows");
  }
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  const Cut cut(problem, machine.gpu);
  if (cut.m < 1 || cut.n < 1 || cut.k < 1) return reject("a matrix without elements");
  if (problem.inputs[0].strides[cut.x_axis] != 1 || problem.inputs[1].strides[cut.w_axis] != 1)
    return reject("the terms of a sum are not neighbours in x and in w");
  if (cut.m > kMostTiles * kMmaWarpTile || cut.count > kMostTiles)
    return reject(fmt::format("{} rows of {} matrices, wanted at most {} of {}", cut.m, cut.count,
                              kMostTiles * kMmaWarpTile, kMostTiles));
  return accept();
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  return {{"k_warps", Cut(problem, machine.gpu).k_warps}};
}

Status enqueue(const Call& call) {
  const Problem& problem = call.problem;
  Cut cut(problem, call.gpu.info());
  while ((call.inputs[0] | call.inputs[1]) % static_cast<uint64_t>(cut.tile.vector * 2) != 0) cut.tile.vector /= 2;
  const bool is_linear = as<Linear>(problem.op);
  const LinearMmaArguments a{.of = is_linear ? tiled_linear(call) : tiled_matmul(call),
                             .x_row = is_linear ? problem.inputs[0].row_stride() : problem.inputs[0].strides.back(1),
                             .w_constant = problem.inputs[1].constant};
  const Launch launch{.grid = {static_cast<uint32_t>(cut.columns()), static_cast<uint32_t>(cut.rows()),
                               static_cast<uint32_t>(cut.count)},
                      .block = {static_cast<uint32_t>(kMmaWarps * call.gpu.info().lanes)},
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_mma", symbol_of(kVariants, cut.tile), launch, a);
}

}  // namespace

extern const Kernel linear_mma{
    .name = "linear_mma", .op = "linear", .supports = supports, .tunables = tunables, .enqueue = enqueue};
extern const Kernel matmul_mma{
    .name = "matmul_mma", .op = "matmul", .supports = supports, .tunables = tunables, .enqueue = enqueue};

}  // namespace rung::gpu

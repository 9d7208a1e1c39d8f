// The row of products of two matrices of a batch on CDNA's matrix units.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/matmul_batch.hpp"
#include "kernels/gpu/linear/matmul_cdna_arguments.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<CdnaMatmulConfig> kVariants[] = {
#include "kernels/gpu/linear/matmul_cdna.inc"
};
constexpr int64_t kTogether = 4;  // columns of the result that a lane stores side by side

// Lines are rows of x and columns of y: the last axis runs along x's lines, the axis before it along y's.
MatmulLines lines_of(const Problem& problem, size_t i) {
  const Operand& operand = problem.inputs[i];
  const auto rows = operand.strides.back(1), columns = operand.strides.back();
  return {.line = i == 0 ? rows : columns,
          .step = i == 0 ? columns : rows,
          .lines = static_cast<uint32_t>(operand.shape.back(i == 0 ? 1 : 0))};
}

// The cut of a problem into blocks; the parameter "tile" is a block's rows and columns.
struct Cut {
  MatMulShape shape;
  MatmulLines x, y;
  Nest<2> batch;
  CdnaMatmulConfig config;
  std::vector<int64_t> tiles_worth_a_trial;  // the default first

  Cut(const Problem& problem, const GpuInfo& gpu)
      : shape(problem), x(lines_of(problem, 0)), y(lines_of(problem, 1)), batch(batch_of(problem)) {
    config = {problem.inputs[0].dtype, side_of(problem, 0), side_of(problem, 1), 2};
    // Mixtures have no variant: unless x is read along its lines, and y along or across them, both are read singly.
    if (config.x != MatmulSide::along || config.y == MatmulSide::single || shape.n % kTogether)
      config.x = config.y = MatmulSide::single;
    // The larger tile reads each operand half as often; the smaller is the default if that leaves most units idle.
    tiles_worth_a_trial = {kLarge, kSmall};
    if (2 * tiles() <= gpu.multiprocessors) std::swap(tiles_worth_a_trial[0], tiles_worth_a_trial[1]);
    config.tiles = problem.param("tile", tiles_worth_a_trial[0]) == kSmall ? 1 : 2;
  }
  int64_t tiles_of_rows() const { return divide_up(shape.m, config.lines()); }
  int64_t tiles_of_columns() const { return divide_up(shape.n, config.lines()); }
  int64_t tiles() const { return shape.batch * tiles_of_rows() * tiles_of_columns(); }

 private:
  static constexpr int64_t kLarge = 64, kSmall = 32;

  MatmulSide side_of(const Problem& problem, size_t i) const {
    const MatmulLines& lines = i == 0 ? x : y;
    const auto together = static_cast<int64_t>(16 / size_of(problem.inputs[i].dtype));
    for (int axis = 0; axis < batch.rank; ++axis)
      if (batch.stride[i][axis] % together) return MatmulSide::single;
    if (lines.step == 1 && lines.line % together == 0 && shape.k % together == 0) return MatmulSide::along;
    if (lines.line == 1 && lines.step % together == 0 && lines.lines % together == 0) return MatmulSide::across;
    return MatmulSide::single;
  }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_cdna(machine.gpu); !verdict) return verdict;
  if (auto verdict = supports_types(problem, is_computed_float); !verdict) return verdict;
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  const MatMulShape shape(problem);
  if (shape.batch < 1 || shape.k < 1) return reject("nothing to multiply");
  if (shape.k > INT32_MAX) return reject(fmt::format("k is {}, wanted at most {}", shape.k, INT32_MAX));
  return accept();
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  return {{"tile", Cut(problem, machine.gpu).tiles_worth_a_trial}};
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  CdnaMatmulArguments a{.x = cut.x, .y = cut.y, .out = call.output, .batch = cut.batch};
  a.x.address = call.inputs[0], a.y.address = call.inputs[1];
  a.x_tiles = Divisor(static_cast<uint32_t>(cut.tiles_of_rows()));
  a.y_tiles = Divisor(static_cast<uint32_t>(cut.tiles_of_columns()));
  a.tiles = DieTiles(static_cast<uint32_t>(cut.tiles()), dies_of(call.gpu.info()));
  a.k = static_cast<uint32_t>(cut.shape.k);
  a.chunks = divide_up(a.k, kMatmulChunkBytes / static_cast<uint32_t>(size_of(cut.config.type)));
  const Launch launch{
      .grid = {a.tiles.blocks()}, .block = {kMatmulWaves * kCdnaLanes}, .dependent = call.gpu.info().dependent_launch};
  return call.launch("matmul_cdna", symbol_of(kVariants, cut.config), launch, a);
}

}  // namespace

extern const Kernel matmul_cdna{.name = "matmul_cdna",
                                .op = "matmul",
                                .supports = supports,
                                .tunables = tunables,
                                .alignment = 16,
                                .enqueue = enqueue};

}  // namespace rung::gpu

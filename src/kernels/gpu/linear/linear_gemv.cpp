// The rows of products of a few rows with a matrix whose rows have any length, bound by the reading of the matrix.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/linear_gemv_arguments.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/linear/linear_tiled_operands.hpp"
#include "kernels/gpu/linear/product_shape.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<GemvConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_gemv.inc"
};
constexpr int64_t kMostRows = 8;
constexpr int64_t kMostMatrices = 65535;  // of a grid
constexpr int64_t kWarpsToFill = 8;       // warps of a multiprocessor beyond which more do not help, measured

// The cut of a product into teams of warps.
struct Cut : ProductShape {
  int64_t lanes, multiprocessors, most_shared_bytes;
  GemvConfig tile;

  Cut(const Problem& problem, const GpuInfo& gpu)
      : ProductShape(problem),
        lanes(gpu.lanes),
        multiprocessors(std::max(gpu.multiprocessors, 1)),
        most_shared_bytes(static_cast<int64_t>(gpu.shared_bytes_per_block)),
        tile{is_f8(problem.inputs[1].dtype) ? DType::f8e4m3fn : problem.inputs[1].dtype, 16, 1} {
    if (m > 1) tile.rows = m <= 4 ? 4 : 8;
    const auto element_bytes = static_cast<int64_t>(size_of(problem.inputs[1].dtype));
    const auto fits = [&](int64_t bytes) {
      return k * element_bytes % bytes == 0 && has_aligned_lines(problem.inputs[1], w_axis, bytes);
    };
    narrow(fits);
  }
  // Takes the largest vectors, no larger than now, that `fits` says w has at their multiples; single elements always
  // fit.
  template <class Fits>
  void narrow(Fits fits) {
    for (const auto& [config, symbol] : kVariants)
      if (config.type == tile.type && config.rows == tile.rows && config.bytes <= tile.bytes &&
          (config.vector() == 1 || fits(config.bytes))) {
        tile = config;
        return;
      }
  }
  int64_t vectors() const { return k / tile.vector(); }
  int64_t warps() const { return kGemvThreads / lanes; }
  uint32_t shared_bytes() const { return static_cast<uint32_t>(tile.rows * k * 4); }  // that a launch asks for
  uint32_t all_shared_bytes() const { return shared_bytes() + tile.parts() * 4; }

  // Returns the sizes of a team in which each lane has a vector, the preferred one first: the smallest with which there
  // are warps enough to keep the memory busy, as additions across warps take time.
  std::vector<int64_t> teams() const {
    std::vector<int64_t> all;
    for (int64_t team = 1; team <= warps() && (team == 1 || vectors() > lanes * team / 2); team *= 2)
      all.push_back(team);
    const auto fills = [&](int64_t team) { return n * count * team >= multiprocessors * kWarpsToFill; };
    const auto preferred = std::find_if(all.begin(), all.end() - 1, fills);
    std::rotate(all.begin(), preferred, preferred + 1);
    return all;
  }
  // Returns the MiB of w that all blocks may prefetch together while they wait for their producers, none first: as much
  // as half of the cache holds, where kernels overlap.
  std::vector<int64_t> prefetches(const Problem& problem, const GpuInfo& gpu) const {
    std::vector<int64_t> all{0};
    if (!gpu.dependent_launch || !problem.inputs[1].constant || count > 1) return all;
    for (const int64_t each : {8, 24})
      if (each << 20 <= static_cast<int64_t>(gpu.l2_bytes / 2) && n * k * tile.bytes / tile.vector() > each << 19)
        all.push_back(each);
    return all;
  }
  // Returns how many blocks share a multiprocessor, as many as fit first: fewer leave room for blocks of the next
  // kernel, which then asks for its own weights earlier, where kernels overlap.
  std::vector<int64_t> together(const GpuInfo& gpu) const {
    const int64_t most = std::clamp<int64_t>(most_shared_bytes / std::max(shared_bytes(), 1u), 1, tile.blocks());
    std::vector<int64_t> all{most};
    if (gpu.dependent_launch && most > 2 && n * count > multiprocessors * most * warps()) all.push_back(most - 1);
    return all;
  }
  uint32_t blocks(int64_t team, int64_t together) const {
    const int64_t columns = divide_up(n, warps() / team);
    return static_cast<uint32_t>(std::min(columns, multiprocessors * together));
  }
};

// Returns the most rows of x that this kernel takes. CDNA's matrix instructions multiply several 16-bit rows in the
// time of one, so those are left to them.
int64_t most_rows(const Problem& problem, const Machine& machine) {
  const DType type = problem.inputs[0].dtype;
  const bool by_matrices = is_narrow(type) && problem.inputs[1].dtype == type && supports_cdna(machine.gpu);
  return by_matrices ? 1 : kMostRows;
}

// Values of w may have 8 bits, of x and the result not.
Verdict supports_operands(const Problem& problem, const Machine& machine) {
  if (!is_quantised(problem.inputs[1].dtype)) {
    if (auto verdict = supports_types(problem, is_computed_float); !verdict) return verdict;
    return as<Linear>(problem.op) ? supports_slots(problem, kSlotsButNorms) : accept();
  }
  for (const Operand* operand : {&problem.inputs[0], &problem.output})
    if (!is_computed_float(operand->dtype)) return reject("x or the result is of 8 bits");
  return supports_widened(problem, machine.gpu);
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_operands(problem, machine); !verdict) return verdict;
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  const Cut cut(problem, machine.gpu);
  const int64_t most = most_rows(problem, machine);
  if (cut.m < 1 || cut.m > most) return reject(fmt::format("{} rows, wanted 1 to {}", cut.m, most));
  if (cut.n < 1 || cut.k < 1) return reject("a matrix without elements");
  if (cut.count > kMostMatrices) return reject(fmt::format("{} matrices, wanted at most {}", cut.count, kMostMatrices));
  if (problem.inputs[1].strides[cut.w_axis] != 1) return reject("the terms of a column's sum are not neighbours in w");
  if (cut.k > cut.most_shared_bytes) return reject(fmt::format("{} columns of x do not fit shared memory", cut.k));
  return supports_shared_bytes(cut.all_shared_bytes(), machine.gpu);
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  return {{"warps", cut.teams()},
          {"prefetch", cut.prefetches(problem, machine.gpu)},
          {"blocks", cut.together(machine.gpu)}};
}

Status enqueue(const Call& call) {
  const Problem& problem = call.problem;
  Cut cut(problem, call.gpu.info());
  cut.narrow([&](int64_t bytes) { return call.inputs[1] % static_cast<uint64_t>(bytes) == 0; });
  const int64_t team = problem.param("warps", cut.teams().front());
  const uint32_t blocks = cut.blocks(team, problem.param("blocks", cut.together(call.gpu.info()).front()));
  const int64_t teams = blocks * (cut.warps() / team);
  const auto quad = static_cast<int64_t>(size_of(problem.inputs[0].dtype)) * 4;
  const Operand& x = problem.inputs[0];
  const bool x_quads = x.strides[cut.x_axis] == 1 && cut.k % 4 == 0 &&
                       call.inputs[0] % static_cast<uint64_t>(quad) == 0 && has_aligned_lines(x, cut.x_axis, quad);
  const LinearGemvArguments a{.of = as<Linear>(problem.op) ? tiled_linear(call) : tiled_matmul(call),
                              .team = static_cast<uint32_t>(team),
                              .w_constant = problem.inputs[1].constant,
                              .x_quads = x_quads,
                              .prefetch = static_cast<uint32_t>((problem.param("prefetch", 0) << 20) / teams)};
  const Launch launch{.grid = {blocks, static_cast<uint32_t>(cut.count)},
                      .block = {kGemvThreads},
                      .shared_bytes = cut.shared_bytes(),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_gemv", symbol_of(kVariants, cut.tile), launch, a);
}

}  // namespace

extern const Kernel linear_gemv{
    .name = "linear_gemv", .op = "linear", .supports = supports, .tunables = tunables, .enqueue = enqueue};
extern const Kernel matmul_gemv{
    .name = "matmul_gemv", .op = "matmul", .supports = supports, .tunables = tunables, .enqueue = enqueue};

}  // namespace rung::gpu

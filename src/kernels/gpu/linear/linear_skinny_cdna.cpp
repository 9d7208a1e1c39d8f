// The row of linear layers of at most 64 tokens on CDNA, bound by the reading of their weights, which it needs in the
// order of the lanes that multiply them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/linear_cdna_order.hpp"
#include "kernels/gpu/linear/linear_skinny_cdna_arguments.hpp"
#include "kernels/gpu/linear/linear_skinny_operands.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<CdnaSkinnyConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
};

// The cut of a layer into blocks, by the problem's parameters "rows" (of w in a block) and "waves", or by default.
struct Cut {
  CdnaOrder order;
  CdnaSkinnyConfig tile;
  std::vector<int64_t> rows_values, waves_values;  // the default first
  uint32_t waves = 0;

  Cut(const Problem& problem, const GpuInfo& gpu) : order(problem) {
    const auto tokens = static_cast<uint32_t>(problem.output.rows());
    tile = {order.type, tokens > 32 ? 4u : tokens > 16 ? 2u : 1u, 2, order.epilogue};
    rows_values = {2 * kCdnaTile};
    if (tile.epilogue == CdnaEpilogue::any) {
      // The first aim is a block for each compute unit; the next is to read x less often.
      const bool many = order.tiles() > 2 * static_cast<uint32_t>(gpu.multiprocessors);
      rows_values.insert(many ? rows_values.end() : rows_values.begin(), kCdnaTile);
      tile.row_tiles = static_cast<uint32_t>(problem.param("rows", rows_values.front())) / kCdnaTile;
    }
    for (uint32_t count : {4u, 8u, 2u, 1u})
      if (count <= std::max(order.chunks, 1u) && tile.shared_bytes(count) <= gpu.shared_bytes_per_block)
        waves_values.push_back(count);
    waves = waves_values.empty() ? 0 : static_cast<uint32_t>(problem.param("waves", waves_values.front()));
  }
  uint32_t blocks() const { return order.tiles() / tile.row_tiles; }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_skinny(problem, multiplied_on(machine.gpu)); !verdict) return verdict;
  if (auto verdict = supports_cdna_order(problem, machine); !verdict) return verdict;
  if (is_f8(problem.as<Linear>().epilogue.normed) && !is_f8(problem.inputs[0].dtype))
    return reject("a norm is given 8 bits, and x is of more");
  const Cut cut(problem, machine.gpu);
  if (cut.waves > 0) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  return {{"rows", cut.rows_values}, {"waves", cut.waves_values}};
}

LinearCdnaArguments arguments_of(const Call& call, const Cut& cut) {
  LinearCdnaArguments a = cdna_arguments(call, cut.order);
  a.waves = cut.waves, a.chunks_of_wave = divide_up(cut.order.chunks, cut.waves);
  return a;
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  const Launch launch{.grid = {cut.blocks()},
                      .block = {cut.waves * kCdnaLanes},
                      .shared_bytes = cut.tile.shared_bytes(cut.waves),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_skinny_cdna", symbol_of(kVariants, cut.tile), launch, arguments_of(call, cut));
}

}  // namespace

extern const Kernel linear_skinny_cdna{.name = "linear_skinny_cdna",
                                       .op = "linear",
                                       .supports = supports,
                                       .packed_bytes = cdna_packed_bytes,
                                       .pack = pack_for_cdna,
                                       .tunables = tunables,
                                       .alignment = 16,
                                       .enqueue = enqueue};

}  // namespace rung::gpu

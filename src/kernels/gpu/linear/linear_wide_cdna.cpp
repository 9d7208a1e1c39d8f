// The row of linear layers of more than 64 tokens on CDNA, bound by the matrix units.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/linear_cdna_order.hpp"
#include "kernels/gpu/linear/linear_skinny_operands.hpp"
#include "kernels/gpu/linear/linear_wide_cdna_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<CdnaWideConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_wide_cdna.inc"
};

struct Cut {
  CdnaOrder order;
  uint32_t m, units;  // compute units
  std::vector<CdnaWideConfig> tiles_worth_a_trial;
  CdnaWideConfig tile{};

  Cut(const Problem& problem, const GpuInfo& gpu)
      : order(problem),
        m(static_cast<uint32_t>(problem.output.rows())),
        units(static_cast<uint32_t>(std::max(gpu.multiprocessors, 1))) {
    for (const auto& [config, symbol] : kVariants)
      if (config.type == problem.inputs[0].dtype && config.epilogue == order.epilogue &&
          2 * config.stage_bytes() <= gpu.shared_bytes_per_block)
        tiles_worth_a_trial.push_back(config);
    std::stable_sort(tiles_worth_a_trial.begin(), tiles_worth_a_trial.end(),
                     [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
    if (tiles_worth_a_trial.empty()) return;
    tile = tiles_worth_a_trial.front();
    for (const CdnaWideConfig& each : tiles_worth_a_trial)
      if (each.parameter() == problem.param("tile", 0)) tile = each;
  }
  uint32_t token_tiles(const CdnaWideConfig& config) const { return divide_up(m, config.tokens()); }
  uint32_t tiles(const CdnaWideConfig& config) const {
    return token_tiles(config) * divide_up(order.tiles() * kCdnaTile, config.rows());
  }
  // In matrix instructions of a wave and the reads of operands that they wait for, wave of blocks after wave: an
  // estimate that no machine has confirmed.
  uint64_t cost(const CdnaWideConfig& config) const {
    const uint64_t products = 4 * config.token_tiles * config.row_tiles;
    const uint64_t reads = 8 * (config.token_tiles + config.row_tiles);
    return uint64_t{divide_up(tiles(config), units)} * (products + reads);
  }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_slots(problem, kSlotsButNorms); !verdict) return verdict;
  if (auto verdict = supports_streamed(problem); !verdict) return verdict;
  if (auto verdict = supports_cdna_order(problem, machine); !verdict) return verdict;
  const int64_t tokens = LinearShape(problem).m;
  if (tokens <= kSkinnyMostTokens || tokens > INT32_MAX)
    return reject(fmt::format("{} rows, wanted more than {}", tokens, kSkinnyMostTokens));
  if (!Cut(problem, machine.gpu).tiles_worth_a_trial.empty()) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  Tunable tile{"tile", {}};
  for (const CdnaWideConfig& each : Cut(problem, machine.gpu).tiles_worth_a_trial)
    tile.values.push_back(each.parameter());
  return {tile};
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  LinearCdnaArguments a = cdna_arguments(call, cut.order);
  a.tiles = DieTiles(cut.tiles(cut.tile), dies_of(call.gpu.info())), a.token_tiles = cut.token_tiles(cut.tile);
  set_skinny_epilogue(a, call, LinearShape(call.problem));
  const Launch launch{.grid = {a.tiles.blocks()},
                      .block = {kWideBlockWaves * kCdnaLanes},
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_wide_cdna", symbol_of(kVariants, cut.tile), launch, a);
}

}  // namespace

extern const Kernel linear_wide_cdna{.name = "linear_wide_cdna",
                                     .op = "linear",
                                     .supports = supports,
                                     .packed_bytes = cdna_packed_bytes,
                                     .pack = pack_for_cdna,
                                     .tunables = tunables,
                                     .alignment = 16,
                                     .enqueue = enqueue};

}  // namespace rung::gpu

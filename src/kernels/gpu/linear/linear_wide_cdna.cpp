// The row of linear layers of more than 64 tokens on CDNA, bound by the matrix units.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/linear_cdna_order.hpp"
#include "kernels/gpu/linear/linear_skinny_operands.hpp"
#include "kernels/gpu/linear/linear_wide_cdna_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<CdnaWideConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_wide_cdna.inc"
};

constexpr Variant<CdnaPartsConfig> kParts[] = {
#include "kernels/gpu/linear/linear_parts_cdna.inc"
};
constexpr size_t kMostWays = 8;       // ways worth a trial
constexpr uint32_t kLeastChunks = 8;  // of K in a part; at least kMostParts, so that no part is empty
constexpr uint32_t kMostParts = 8;
static_assert(kMostParts <= kLeastChunks);

// A way to cut a layer: its tiles, and the blocks that share K of each tile.
struct Way {
  CdnaWideConfig tile{};
  uint32_t parts = 1;
};
constexpr std::string_view kParameters[] = {"rows", "tokens", "parts"};
Tunable::Values parameters_of(const Way& way) { return {way.tile.rows(), way.tile.tokens(), way.parts}; }

struct Cut {
  CdnaOrder order;
  uint32_t m, units;  // compute units
  std::vector<Way> ways_worth_a_trial;
  Way way;

  Cut(const Problem& problem, const GpuInfo& gpu)
      : order(problem),
        m(static_cast<uint32_t>(problem.output.rows())),
        units(static_cast<uint32_t>(std::max(gpu.multiprocessors, 1))) {
    for (const auto& [config, symbol] : kVariants)
      if (config.type == order.type && config.epilogue == order.epilogue &&
          2 * config.stage_bytes() <= gpu.shared_bytes_per_block)
        add_ways(config);
    std::stable_sort(ways_worth_a_trial.begin(), ways_worth_a_trial.end(),
                     [&](const Way& a, const Way& b) { return cost(a) < cost(b); });
    if (ways_worth_a_trial.empty()) return;
    if (ways_worth_a_trial.size() > kMostWays) ways_worth_a_trial.resize(kMostWays);
    const Way* asked = find_asked(problem, kParameters, ways_worth_a_trial);
    way = asked ? *asked : ways_worth_a_trial.front();
  }
  uint32_t token_tiles(const CdnaWideConfig& tile) const { return divide_up(m, tile.tokens()); }
  uint32_t tiles(const CdnaWideConfig& tile) const {
    return token_tiles(tile) * divide_up(order.tiles() * kCdnaTile, tile.rows());
  }
  uint32_t columns_of_sums() const { return order.tiles() * kCdnaTile; }
  size_t bytes_of_sums() const { return way.parts > 1 ? size_t{way.parts} * m * columns_of_sums() * sizeof(float) : 0; }

 private:
  // Blocks share K only if that gives work to compute units without any.
  void add_ways(const CdnaWideConfig& tile) {
    for (uint32_t parts = 1; parts <= kMostParts; parts *= 2)
      if (parts == 1 || (order.chunks / parts >= kLeastChunks && tiles(tile) * (parts / 2) < units))
        ways_worth_a_trial.push_back({tile, parts});
  }
  // Estimates eighths of a wave's cycles, which no machine has confirmed: the matrix instructions of each chunk of K
  // and the reads of operands that they wait for, in wave after wave of blocks; then, if K is shared, another launch of
  // some 2 us, and the sums that blocks write and it reads, 20,000 bytes in 8 cycles at 5 TB/s.
  uint64_t cost(const Way& each) const {
    const uint64_t products = 4 * each.tile.token_tiles * each.tile.row_tiles;
    const uint64_t reads = 8 * (each.tile.token_tiles + each.tile.row_tiles);
    const uint64_t sums = uint64_t{each.parts} * m * columns_of_sums() * sizeof(float);
    return uint64_t{divide_up(tiles(each.tile) * each.parts, units)} * divide_up(order.chunks, each.parts) *
               (products + reads) +
           (each.parts > 1 ? 500 + 2 * sums / 20000 : 0);
  }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_slots(problem, kSlotsWithScales); !verdict) return verdict;
  if (auto verdict = supports_streamed(problem, multiplied_on(machine.gpu)); !verdict) return verdict;
  if (auto verdict = supports_cdna_order(problem, machine); !verdict) return verdict;
  const int64_t tokens = LinearShape(problem).m;
  if (tokens <= kSkinnyMostTokens || tokens > INT32_MAX)
    return reject(fmt::format("{} rows, wanted more than {}", tokens, kSkinnyMostTokens));
  if (!Cut(problem, machine.gpu).ways_worth_a_trial.empty()) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

size_t scratch_bytes(const Problem& problem, const Machine& machine) {
  return Cut(problem, machine.gpu).bytes_of_sums();
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  Tunable tile(kParameters);
  for (const Way& each : Cut(problem, machine.gpu).ways_worth_a_trial) tile.values.push_back(parameters_of(each));
  return {tile};
}

LinearCdnaArguments arguments_of(const Call& call, const Cut& cut) {
  LinearCdnaArguments a = cdna_arguments(call, cut.order);
  const uint32_t tiles = cut.tiles(cut.way.tile), parts = cut.way.parts;
  a.tiles = DieTiles(tiles * parts, dies_of(call.gpu.info()));
  a.part_tiles = Divisor(tiles), a.token_tiles = Divisor(cut.token_tiles(cut.way.tile));
  a.parts = {.sums = parts > 1 ? call.scratch : 0,
             .count = parts,
             .chunks = divide_up(a.chunks, parts),
             .columns = cut.columns_of_sums(),
             .quads = Divisor((cut.order.epilogue == CdnaEpilogue::rotated ? a.n / 2 : a.n) / 4)};
  return a;
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  const LinearCdnaArguments a = arguments_of(call, cut);
  Launch launch{.grid = {a.tiles.blocks()},
                .block = {kWideBlockWaves * kCdnaLanes},
                .dependent = call.gpu.info().dependent_launch};
  RUNG_CHECK(call.launch("linear_wide_cdna", symbol_of(kVariants, cut.way.tile), launch, a));
  if (cut.way.parts == 1) return {};
  launch.grid = {divide_up(a.m * a.parts.quads.value, kPartsThreads)}, launch.block = {kPartsThreads};
  const CdnaPartsConfig config{cut.order.epilogue, cut.order.type == DType::f8e4m3fn};
  return call.launch("linear_parts_cdna", symbol_of(kParts, config), launch, a);
}

}  // namespace

extern const Kernel linear_wide_cdna{.name = "linear_wide_cdna",
                                     .op = "linear",
                                     .supports = supports,
                                     .scratch_bytes = scratch_bytes,
                                     .packed_bytes = cdna_packed_bytes,
                                     .pack = pack_for_cdna,
                                     .tunables = tunables,
                                     .alignment = 16,
                                     .enqueue = enqueue};

}  // namespace rung::gpu

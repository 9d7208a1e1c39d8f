// The rows of f32 linear layers of few tokens, by fused multiply-adds; blocks that share K are a cluster.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "base/divide.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/gpu/linear/linear_fma_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTokens = 64;
constexpr int64_t kTogether = 4;  // f32 elements in 16 bytes
constexpr size_t kMostTiles = 8;  // tiles worth a trial

constexpr Variant<FmaTile> kAlone[] = {
#include "kernels/gpu/linear/linear_fma.inc"
};
constexpr Variant<FmaTile> kClustered[] = {
#include "kernels/gpu/linear/linear_fma_sm90.inc"
};

struct Tile {
  FmaTile shape;
  uint32_t split = 1;  // blocks that share K
  bool apart = false;  // each block has its own multiprocessor, although two would fit
  constexpr std::string_view symbol() const {
    return split == 1 ? symbol_of(kAlone, shape) : symbol_of(kClustered, shape);
  }
};
constexpr auto kTilesAlone = [] {
  std::array<Tile, std::size(kAlone)> tiles{};
  std::transform(std::begin(kAlone), std::end(kAlone), tiles.begin(), [](const auto& v) { return Tile{v.config}; });
  return tiles;
}();
// The tiles are in order of preference: of tiles that take equally long, the first is chosen.
constexpr Tile kTilesShared[] = {{{1, 1}, 8},  {{1, 1}, 4},        {{1, 1}, 2},  {{2, 1}, 8},       {{2, 1}, 4},
                                 {{2, 1}, 2},  {{4, 1}, 4},        {{4, 1}, 2},  {{4, 1}, 2, true}, {{4, 2}, 8},
                                 {{4, 2}, 4},  {{4, 2}, 4, true},  {{7, 1}, 4},  {{7, 2}, 8},       {{7, 2}, 4},
                                 {{13, 1}, 8}, {{13, 1}, 8, true}, {{13, 1}, 4}, {{16, 1}, 8}};
static_assert(std::none_of(std::begin(kTilesShared), std::end(kTilesShared),
                           [](const Tile& tile) { return tile.symbol().empty(); }),
              "each is compiled");

// The cut of a problem by one tile.
struct Cut {
  Tile tile;
  uint32_t multiprocessors, lanes;
  // A multiprocessor has room for two blocks of different kernels, so that loads of the next layer's weights start
  // early, but not for two blocks of this kernel if they must be apart.
  uint32_t most_bytes, apart_bytes;
  uint32_t m, n, k, depth;
  FmaShared shared;

  Cut(const LinearShape& shape, const Tile& cut, const GpuInfo& gpu)
      : tile(cut),
        multiprocessors(static_cast<uint32_t>(std::max(gpu.multiprocessors, 1))),
        lanes(static_cast<uint32_t>(gpu.lanes)),
        most_bytes(shared_bytes_of_two(gpu)),
        apart_bytes(shared_bytes_apart(gpu)),
        m(static_cast<uint32_t>(shape.m)),
        n(static_cast<uint32_t>(shape.n)),
        k(static_cast<uint32_t>(shape.k)),
        depth(std::clamp(std::bit_ceil(divide_up(k, tile.split)), 1u << kFmaLeastDepthBits, 1u << kFmaMostDepthBits)),
        shared{tile.shape, lanes, depth, divide_up(chunks(), tile.split), tile.split} {
    while (shared.bytes() > most_bytes && shared.stages > 1) --shared.stages;
  }
  uint32_t chunks() const { return divide_up(k, depth); }
  uint32_t column_tiles() const { return divide_up(n, tile.shape.columns(lanes)); }
  uint32_t token_tiles() const { return divide_up(m, tile.shape.tokens()); }
  uint32_t shared_bytes() const { return tile.apart ? std::max(shared.bytes(), apart_bytes) : shared.bytes(); }
  bool fits() const { return chunks() >= tile.split && shared.bytes() <= most_bytes; }
  // Returns the multiply-adds of the busiest multiprocessor, plus the other costs of a block in multiply-adds.
  int64_t work() const {
    constexpr int64_t block = 100'000, addition = 500;  // addition: of one more block's sum to a token
    const int64_t waves = divide_up(column_tiles() * token_tiles() * tile.split, multiprocessors);
    const int64_t products = int64_t{tile.shape.tokens()} * tile.shape.columns(lanes) * divide_up(k, tile.split);
    return waves * (products + block + addition * tile.shape.tokens() * (tile.split - 1) / 8);
  }
};

constexpr std::string_view kParameters[] = {"token_rows", "column_warps", "split", "apart"};
Tunable::Values parameters_of(const Cut& cut) {
  return {cut.tile.shape.rows, cut.tile.shape.column_warps, cut.tile.split, cut.tile.apart};
}

// Returns the cuts that are worth a trial, the preferred one first.
std::vector<Cut> cuts(const Problem& problem, const GpuInfo& gpu, std::span<const Tile> tiles) {
  const LinearShape shape(problem);
  std::vector<Cut> all;
  for (const Tile& tile : tiles)
    if (Cut cut(shape, tile, gpu); cut.fits()) all.push_back(cut);
  std::stable_sort(all.begin(), all.end(), [](const Cut& a, const Cut& b) { return a.work() < b.work(); });
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostTiles)), all.end());
  return all;
}

Verdict supports_both(const Problem& problem, const GpuInfo& gpu, std::span<const Tile> tiles) {
  if (auto verdict = supports_linear(problem, is_computed_float); !verdict) return verdict;
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  const LinearShape shape(problem);
  if (problem.inputs[0].dtype != DType::f32 || problem.inputs[1].dtype != DType::f32)
    return reject("x and w are not both f32");
  if (problem.as<Linear>().epilogue.gated) return reject("gated");
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  if (shape.m < 1 || shape.m > kMostTokens) return reject(fmt::format("{} rows, wanted 1 to {}", shape.m, kMostTokens));
  if (shape.k < 1 || shape.k % kTogether || shape.n < 1 || shape.n % kTogether ||
      problem.inputs[0].row_stride() % kTogether)
    return reject("rows are not a multiple of 16 bytes");
  if (auto verdict = supports_distances(problem, kTogether); !verdict) return verdict;
  if (cuts(problem, gpu, tiles).empty())
    return reject(fmt::format("no tile shares {} columns of x and fits {} bytes of shared memory", shape.k,
                              shared_bytes_of_two(gpu)));
  return accept();
}

std::vector<Tunable> tunables_of(const Problem& problem, const GpuInfo& gpu, std::span<const Tile> tiles) {
  Tunable tile(kParameters);
  for (const Cut& cut : cuts(problem, gpu, tiles)) tile.values.push_back(parameters_of(cut));
  return {tile};
}

LinearFmaArguments arguments_of(const Call& call, const Cut& cut) {
  return {.x = call.inputs[0],
          .w = call.inputs[1],
          .x_stride = call.problem.inputs[0].row_stride(),
          .end = epilogue_of(call),
          .m = cut.m,
          .n = cut.n,
          .k = cut.k,
          .depth_bits = static_cast<uint32_t>(std::countr_zero(cut.depth)),
          .chunks = cut.chunks(),
          .stages = cut.shared.stages,
          .split_bits = static_cast<uint32_t>(std::countr_zero(cut.tile.split))};
}

Status enqueue_tiles(const Call& call, std::span<const Tile> tiles) {
  const auto fitting = cuts(call.problem, call.gpu.info(), tiles);
  const Cut* asked = find_asked(call.problem, kParameters, fitting);
  const Cut& cut = asked ? *asked : fitting.front();
  const Launch launch{.grid = {cut.column_tiles() * cut.tile.split, cut.token_tiles()},
                      .block = {cut.tile.shape.threads()},
                      .cluster = {cut.tile.split},
                      .shared_bytes = cut.shared_bytes(),
                      .dependent = call.gpu.info().dependent_launch};
  const std::string_view module = cut.tile.split == 1 ? "linear_fma" : "linear_fma_sm90";
  return call.launch(module, cut.tile.symbol(), launch, arguments_of(call, cut));
}

Verdict supports_alone(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture == 0) return reject("no GPU");
  return supports_both(problem, machine.gpu, kTilesAlone);
}
std::vector<Tunable> tunables_alone(const Problem& problem, const Machine& machine) {
  return tunables_of(problem, machine.gpu, kTilesAlone);
}
Status enqueue_alone(const Call& call) { return enqueue_tiles(call, kTilesAlone); }

Verdict supports_shared(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  return supports_both(problem, machine.gpu, kTilesShared);
}
std::vector<Tunable> tunables_shared(const Problem& problem, const Machine& machine) {
  return tunables_of(problem, machine.gpu, kTilesShared);
}
Status enqueue_shared(const Call& call) { return enqueue_tiles(call, kTilesShared); }

}  // namespace

extern const Kernel linear_fma{.name = "linear_fma",
                               .op = "linear",
                               .supports = supports_alone,
                               .tunables = tunables_alone,
                               .alignment = 16,
                               .enqueue = enqueue_alone};
extern const Kernel linear_fma_sm90{.name = "linear_fma_sm90",
                                    .op = "linear",
                                    .supports = supports_shared,
                                    .tunables = tunables_shared,
                                    .alignment = 16,
                                    .enqueue = enqueue_shared};

}  // namespace rung::gpu

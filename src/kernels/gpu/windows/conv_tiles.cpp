// The row of convolutions in tiles.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_tiles.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ConvTile> kVariants[] = {
#include "kernels/gpu/windows/conv_tiles.inc"
};
constexpr int64_t kTogether = 8;        // channels that are ended together
constexpr int64_t kLeastRows = 4;       // of w in a group: fewer leave most of a tile empty
constexpr int64_t kMostOfGrid = 65535;  // blocks along its second and third axis

// Returns whether windows can be read in units of 16 bytes.
bool has_units(const Problem& p) {
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  const auto together = static_cast<int64_t>(16 / size_of(x.dtype));
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis)
    if (x.shape[axis] != 1 && x.strides[axis] % together) return false;
  return w.shape.back() % together == 0;
}

// The cut of a problem into tiles, by its parameters "rows", "columns" and "parts", or by default.
struct Cut {
  int64_t groups, rows_of_group, results, elements;
  std::vector<Variant<ConvTile>> tiles;  // the default first
  Variant<ConvTile> tile{};
  std::vector<int64_t> parts_values;  // the default first
  int64_t parts = 1, part_elements = 0;

  Cut(const Problem& p, const GpuInfo& gpu)
      : groups(p.as<Conv>().groups),
        rows_of_group(p.output.shape.back() / groups),
        results(p.output.shape.product() / p.output.shape.back()),
        elements(p.inputs[1].shape.product() / p.inputs[1].shape[0]) {
    for (const auto& each : kVariants)
      if (each.config.type == p.inputs[0].dtype && each.config.units == has_units(p) &&
          supports_shared_bytes(each.config.shared_bytes(), gpu))
        tiles.push_back(each);
    if (tiles.empty()) return;
    prefer_enough_blocks(gpu);
    tile = asked(p);
    cut_windows(p, gpu);
  }

  int64_t row_tiles() const { return divide_up(results, int64_t{tile.config.rows}); }
  int64_t column_tiles() const { return divide_up(rows_of_group, int64_t{tile.config.columns}); }

 private:
  int64_t blocks_of(const ConvTile& config) const {
    return divide_up(results, int64_t{config.rows}) * divide_up(rows_of_group, int64_t{config.columns}) * groups;
  }
  // The default is the largest tile that makes blocks for three quarters of the machine.
  void prefer_enough_blocks(const GpuInfo& gpu) {
    const auto enough = [&](const auto& each) { return 4 * blocks_of(each.config) >= 3 * gpu.multiprocessors; };
    auto first = std::find_if(tiles.begin(), tiles.end(), enough);
    if (first == tiles.end()) --first;
    std::rotate(tiles.begin(), first, first + 1);
  }
  Variant<ConvTile> asked(const Problem& p) const {
    const int64_t rows = p.param("rows", tiles[0].config.rows), columns = p.param("columns", tiles[0].config.columns);
    const auto it = std::find_if(tiles.begin(), tiles.end(), [&](const auto& each) {
      return each.config.rows == rows && each.config.columns == columns;
    });
    return it == tiles.end() ? tiles[0] : *it;
  }
  // A window is cut where blocks are fewer than half of the machine's multiprocessors and parts have two stages each.
  void cut_windows(const Problem& p, const GpuInfo& gpu) {
    const int64_t depth = tile.config.depth(), stages = divide_up(elements, depth);
    const int64_t most = rows_of_group % kTogether ? 1 : std::clamp<int64_t>(stages / 2, 1, 16);
    int64_t best = 1;
    while (2 * best <= most && 2 * best * blocks_of(tile.config) <= gpu.multiprocessors) best *= 2;
    parts_values = {best};
    for (int64_t other : {best / 2, best * 2})
      if (other >= 1 && other <= most) parts_values.push_back(other);
    part_elements = divide_up(stages, std::clamp(p.param("parts", best), int64_t{1}, most)) * depth;
    parts = divide_up(elements, part_elements);
  }
};

Verdict supports(const Problem& p, const Machine& machine) {
  const Conv& op = p.as<Conv>();
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  if (auto verdict = supports_conv(p); !verdict) return verdict;
  if (auto verdict = supports_dense_bias(p); !verdict) return verdict;
  if (op.transposed) return reject("transposed");
  if (x.dtype != w.dtype) return reject("x and w have different types");
  if (x.strides.back() != 1 || !w.contiguous()) return reject("channels of x, or rows of w, are not dense");
  if (p.output.shape.product() == 0 || w.shape.product() == 0) return reject("nothing to multiply");
  if (w.shape[0] / op.groups < kLeastRows) return reject(fmt::format("groups of fewer than {} rows", kLeastRows));
  if (w.shape.product() / w.shape[0] > INT32_MAX / 2) return reject("windows of 2^30 elements or more");
  const Cut cut(p, machine.gpu);
  if (cut.tiles.empty())
    return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
  if (cut.column_tiles() > kMostOfGrid || cut.groups * cut.parts > kMostOfGrid) return reject("too many groups");
  return accept();
}

std::vector<Tunable> tunables(const Problem& p, const Machine& machine) {
  constexpr std::string_view kTileNames[] = {"rows", "columns"};
  const Cut cut(p, machine.gpu);
  Tunable tiles(kTileNames);
  for (const auto& each : cut.tiles) tiles.values.push_back({each.config.rows, each.config.columns});
  return {tiles, {"parts", cut.parts_values}};
}

size_t scratch_bytes(const Problem& p, const Machine& machine) {
  const Cut cut(p, machine.gpu);
  return cut.parts > 1 ? static_cast<size_t>(cut.parts * cut.results) * p.output.shape.back() * sizeof(float) : 0;
}

ConvTilesArguments arguments_of(const Call& call, const Cut& cut) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Problem& p = call.problem;
  ConvTilesArguments a{.x = call.inputs[0], .w = call.inputs[1], .sums = call.scratch, .end = conv_end_of(call)};
  place_windows(p, a.axes);
  a.x_batch = p.inputs[0].strides[0];
  a.channels = size(p.inputs[1].shape.back()), a.rows_of_group = size(cut.rows_of_group);
  a.rows = size(p.output.shape.back());
  a.results = size(cut.results), a.elements = size(cut.elements);
  a.parts = size(cut.parts), a.part_elements = size(cut.part_elements);
  return a;
}

Status enqueue(const Call& call) {
  const GpuInfo& gpu = call.gpu.info();
  const Cut cut(call.problem, gpu);
  const ConvTilesArguments a = arguments_of(call, cut);
  const ConvTile& tile = cut.tile.config;
  const Launch shape{.grid = {static_cast<uint32_t>(cut.row_tiles()), static_cast<uint32_t>(cut.column_tiles()),
                              static_cast<uint32_t>(cut.groups * cut.parts)},
                     .block = {static_cast<uint32_t>(tile.threads(gpu.lanes))},
                     .shared_bytes = tile.shared_bytes(),
                     .dependent = gpu.dependent_launch};
  RUNG_CHECK(call.launch("conv_tiles", cut.tile.symbol, shape, a));
  if (cut.parts == 1) return {};
  return call.launch("conv_tiles", "conv_join",
                     launch_threads(call, int64_t{a.results} * a.rows / kTogether, kConvJoinThreads), a);
}

}  // namespace

extern const Kernel conv_tiles;
const Kernel conv_tiles{.name = "conv_tiles",
                        .op = "conv",
                        .supports = supports,
                        .scratch_bytes = scratch_bytes,
                        .tunables = tunables,
                        .alignment = 16,
                        .enqueue = enqueue};

}  // namespace rung::gpu

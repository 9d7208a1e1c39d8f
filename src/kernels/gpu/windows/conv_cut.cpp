// Lists a convolution's cuts in the order of the cycles that they may take.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_cut.hpp"

#include <algorithm>

#include "kernels/gpu/occupancy.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kTogether = 8;  // channels that a launch of its own joins together
constexpr int64_t kMostParts = 16;
constexpr size_t kMostCuts = 10;

// Returns whether windows can be read in units of 16 bytes.
bool has_units(const Problem& p) {
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  const auto together = static_cast<int64_t>(16 / size_of(x.dtype));
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis)
    if (x.shape[axis] != 1 && x.strides[axis] % together) return false;
  return w.shape.back() % together == 0;
}

int64_t most_parts(const ConvCut& cut, const ConvMeans& means) {
  if (means.clusters) return std::min(cut.stages(), kPortableCluster);
  return cut.size.channels_of_group % kTogether ? 1 : std::min(cut.stages(), kMostParts);
}

// Returns the cycles in which a multiprocessor alone copies or multiplies a block's stage, whichever takes longer.
int64_t busy_cycles(const ConvTile& tile) {
  constexpr int64_t kCopiedBytes = 48, kProducts = 512, kProductsOfF32 = 100;  // in a cycle
  const int64_t copied = int64_t{tile.rows + tile.columns} * tile.depth() * tile.bytes();
  const int64_t products = int64_t{tile.rows} * tile.columns * tile.depth();
  return std::max(copied / kCopiedBytes, products / (tile.type == DType::f32 ? kProductsOfF32 : kProducts));
}

}  // namespace

ConvSize::ConvSize(const Problem& p)
    : groups(p.as<Conv>().groups),
      channels_of_group(p.output.shape.back() / groups),
      results(p.output.shape.product() / p.output.shape.back()),
      elements(p.inputs[1].shape.product() / p.inputs[1].shape[0]) {}

// A block is bound by the order of its work: a stage takes a barrier and the issue of copies besides the products, and
// two blocks that share a multiprocessor hide this from each other. Clusters of eight find room for one block on each:
// on an H100 256 blocks in clusters of 8 take 12.7 us, where 224 in clusters of 4 take 7.2 with the same stages each.
int64_t ConvCut::cycles(const ConvMeans& means) const {
  constexpr int64_t kBlock = 1500, kStage = 400;  // kBlock: until its first stage, and after its last
  constexpr int64_t kClusterJoin = 500, kClusterBlock = 150, kLaunch = 2500, kCopiedBytes = 32;
  const auto multiprocessors = static_cast<int64_t>(std::max(means.gpu.multiprocessors, 1));
  const int64_t each = divide_up(blocks(), multiprocessors), own_stages = divide_up(stages(), parts);
  const int64_t at_once = means.clusters && parts == kPortableCluster ? 1 : 2, busy = busy_cycles(tile.config);
  const int64_t ordered = divide_up(each, at_once) * (kBlock + own_stages * (kStage + busy));
  const int64_t all = std::max(ordered, kBlock + each * own_stages * busy);
  if (parts == 1) return all;
  if (means.clusters) return all + kClusterJoin + parts * kClusterBlock;
  const int64_t sums_bytes = parts * size.results * size.groups * size.channels_of_group * int64_t{sizeof(float)};
  return all + kLaunch + 2 * sums_bytes / (multiprocessors * kCopiedBytes);
}

Tunable::Values parameters_of(const ConvCut& cut) { return {cut.tile.config.rows, cut.tile.config.columns, cut.parts}; }

std::vector<ConvCut> conv_cuts(const Problem& problem, const ConvMeans& means) {
  const ConvSize size(problem);
  std::vector<ConvCut> cuts;
  for (const auto& tile : means.tiles) {
    if (tile.config.type != problem.inputs[0].dtype || tile.config.units != has_units(problem) ||
        !supports_shared_bytes(tile.config.shared_bytes(means.clusters), means.gpu))
      continue;
    ConvCut cut{tile, size, 1};
    for (const int64_t most = most_parts(cut, means); cut.parts <= most; cut.parts *= 2) cuts.push_back(cut);
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [&](const ConvCut& a, const ConvCut& b) { return a.cycles(means) < b.cycles(means); });
  cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(std::min(cuts.size(), kMostCuts)), cuts.end());
  return cuts;
}

}  // namespace rung::gpu

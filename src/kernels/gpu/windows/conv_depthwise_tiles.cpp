// The row of convolutions whose channels do not mix, over tiles: for common windows of vectors of channels.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise_tiles.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<DepthwiseTile> kVariants[] = {
#include "kernels/gpu/windows/conv_depthwise_tiles.inc"
};
constexpr std::string_view kParameters[] = {"rows", "runs"};
constexpr size_t kMostCuts = 8;
constexpr int64_t kMostOfGrid = 65535;  // blocks along its second and third axis

struct Cut {
  int64_t rows, runs;  // of a block
  const DepthwiseTile* tile;
  WindowAxis axes[kWindowAxes];
  int64_t planes, channel_blocks, taps;

  int64_t columns() const { return runs * kDepthwiseRun; }
  int64_t row_tiles() const { return divide_up(int64_t{axes[1].results}, rows); }
  int64_t column_tiles() const { return divide_up(int64_t{axes[2].results}, columns()); }
  int64_t blocks() const { return row_tiles() * column_tiles() * planes * channel_blocks; }
  int64_t threads() const { return kDepthwisePairs * rows * runs; }
  int64_t patch_rows() const { return (rows - 1) * axes[1].stride + (axes[1].taps - 1) * axes[1].dilation + 1; }
  int64_t patch_columns() const { return (columns() - 1) * tile->stride + tile->taps; }
  // Lines of neighbouring results lie half of the banks apart, as far as whole copies allow.
  int64_t pitch() const {
    constexpr int64_t kBanks = 128;  // bytes
    const int64_t line = patch_columns() * kDepthwiseChannels * tile->bytes();
    const int64_t wanted = kBanks / 2 / (axes[1].stride % 2 == 0 ? 2 : 1);
    return line + (wanted + kBanks - line % kBanks) % kBanks;
  }
  int64_t shared_bytes() const {
    return taps * kDepthwiseChannels * static_cast<int64_t>(sizeof(float)) + patch_rows() * pitch();
  }
  // Estimates the cycles until the last block has ended.
  int64_t cycles(const GpuInfo& gpu) const {
    constexpr int64_t kCopiedBytes = 32, kSchedulers = 4, kDependent = 2, kBlock = 1000;
    const int64_t each = divide_up(blocks(), static_cast<int64_t>(std::max(gpu.multiprocessors, 1)));
    const int64_t of_tap_row = 3 * tile->places_of_run() + (2 * kDepthwiseRun + 1) * tile->taps;
    const int64_t of_warp = axes[0].taps * axes[1].taps * of_tap_row;
    const int64_t warps = divide_up(threads(), int64_t{gpu.lanes});
    const int64_t computed = std::max(kDependent * of_warp, divide_up(each * warps, kSchedulers) * of_warp);
    return kBlock + computed + each * shared_bytes() / kCopiedBytes;
  }
};

Tunable::Values parameters_of(const Cut& cut) { return {cut.rows, cut.runs}; }

const DepthwiseTile* tile_of(const Problem& p, const WindowAxis& last) {
  const auto* found = find(kVariants, [&](const DepthwiseTile& each) {
    return each == DepthwiseTile{p.inputs[0].dtype, last.taps, last.stride};
  });
  return found ? &found->config : nullptr;
}

// Returns the cuts that are worth a trial, the one of the fewest cycles first.
std::vector<Cut> cuts(const Problem& p, const GpuInfo& gpu) {
  const Shape& y = p.output.shape;
  Cut cut{};
  place_windows(p, cut.axes);
  cut.tile = tile_of(p, cut.axes[2]);
  cut.planes = y[0] * cut.axes[0].results;
  cut.channel_blocks = divide_up(y.back(), int64_t{kDepthwiseChannels});
  cut.taps = int64_t{cut.axes[1].taps} * cut.axes[2].taps;
  std::vector<Cut> all;
  for (cut.rows = 1; cut.rows <= 8; cut.rows *= 2)
    for (cut.runs = 1; cut.runs <= 8; cut.runs *= 2) {
      if (cut.threads() < gpu.lanes || cut.threads() > kDepthwiseTileThreads) continue;
      if (cut.shared_bytes() > static_cast<int64_t>(shared_bytes_of_two(gpu))) continue;
      all.push_back(cut);
    }
  std::stable_sort(all.begin(), all.end(), [&](const Cut& a, const Cut& b) { return a.cycles(gpu) < b.cycles(gpu); });
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostCuts)), all.end());
  return all;
}

Verdict supports_vectors(const Problem& p) {
  constexpr int64_t kPlaces = 16;  // bytes that are copied together
  const Operand& x = p.inputs[0];
  const int64_t together = kPlaces / static_cast<int64_t>(size_of(x.dtype));
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis)
    if (x.shape[axis] != 1 && x.strides[axis] % together) return reject("places of x are not aligned to 16 bytes");
  return p.output.shape.back() % together ? reject("channels are no multiple of 16 bytes") : accept();
}

Verdict supports(const Problem& p, const Machine& machine) {
  const Conv& op = p.as<Conv>();
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  if (auto verdict = supports_conv(p); !verdict) return verdict;
  if (auto verdict = supports_dense_bias(p); !verdict) return verdict;
  if (op.transposed) return reject("transposed");
  if (w.shape.back() != 1 || w.shape[0] != op.groups) return reject("channels mix");
  if (!w.constant || !w.contiguous()) return reject("w is not constant and dense");
  if (x.strides.back() != 1) return reject("channels of x are not dense");
  if (p.output.shape.product() == 0) return reject("no results");
  if (auto verdict = supports_vectors(p); !verdict) return verdict;
  WindowAxis axes[kWindowAxes];
  place_windows(p, axes);
  if (axes[0].taps != 1) return reject("windows of three axes");
  constexpr int64_t kMostElements = int64_t{1} << 30;  // that 32-bit numbers count, also those of windows outside of x
  for (int axis : {1, 2})
    if (axes[axis].x_stride * (axes[axis].extent + axes[axis].before) > kMostElements / 2)
      return reject("planes of 2^29 elements or more");
  if (axes[2].dilation != 1 || !tile_of(p, axes[2]))
    return reject(fmt::format("windows of {} places, {} apart, at stride {} of the last axis", axes[2].taps,
                              axes[2].dilation, axes[2].stride));
  const auto fitting = cuts(p, machine.gpu);
  if (fitting.empty())
    return reject(fmt::format("no tile fits {} bytes of shared memory", shared_bytes_of_two(machine.gpu)));
  if (fitting[0].planes > kMostOfGrid || fitting[0].channel_blocks > kMostOfGrid)
    return reject(fmt::format("more than {} planes, or runs of {} channels", kMostOfGrid, kDepthwiseChannels));
  return accept();
}

std::vector<Tunable> tunables(const Problem& p, const Machine& machine) {
  Tunable tiles(kParameters);
  for (const Cut& cut : cuts(p, machine.gpu)) tiles.values.push_back(parameters_of(cut));
  return {tiles};
}

Status enqueue(const Call& call) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Problem& p = call.problem;
  const auto fitting = cuts(p, call.gpu.info());
  const Cut* asked = find_asked(p, kParameters, fitting);
  const Cut& cut = asked ? *asked : fitting.front();
  DepthwiseTilesArguments a{.x = call.inputs[0], .w = call.inputs[1], .end = conv_end_of(call)};
  std::copy(std::begin(cut.axes), std::end(cut.axes), a.axes);
  a.x_batch = p.inputs[0].strides[0];
  a.channels = size(p.output.shape.back()), a.taps = size(cut.taps);
  a.rows = size(cut.rows), a.runs = size(cut.runs), a.row_tiles = size(cut.row_tiles());
  a.patch_rows = size(cut.patch_rows()), a.patch_columns = size(cut.patch_columns()), a.pitch = size(cut.pitch());
  a.x_row = static_cast<int32_t>(cut.axes[1].x_stride), a.x_place = static_cast<int32_t>(cut.axes[2].x_stride);
  a.row_divisor = Divisor(a.rows), a.tile_divisor = Divisor(a.row_tiles), a.columns = Divisor(a.patch_columns);
  const Launch shape{.grid = {size(cut.row_tiles() * cut.column_tiles()), size(cut.channel_blocks), size(cut.planes)},
                     .block = {size(cut.threads())},
                     .shared_bytes = size(cut.shared_bytes()),
                     .dependent = call.gpu.info().dependent_launch};
  return call.launch("conv_depthwise_tiles", symbol_of(kVariants, *cut.tile), shape, a);
}

}  // namespace

extern const Kernel conv_depthwise_tiles{.name = "conv_depthwise_tiles",
                                         .op = "conv",
                                         .supports = supports,
                                         .packed_bytes = depthwise_packed_bytes,
                                         .pack = pack_depthwise,
                                         .tunables = tunables,
                                         .alignment = 16,
                                         .enqueue = enqueue};

}  // namespace rung::gpu

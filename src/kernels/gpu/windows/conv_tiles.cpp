// The rows of convolutions in tiles: on every machine, and on Hopper, where blocks that share windows are a cluster.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdlib>

#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/windows/conv_cut.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ConvTile> kTiles[] = {
#include "kernels/gpu/windows/conv_tiles.inc"
};
constexpr Variant<ConvTile> kHopperTiles[] = {
#include "kernels/gpu/windows/conv_tiles_sm90.inc"
};
constexpr int64_t kTogether = 8;        // channels that a join ends together
constexpr int64_t kLeastRows = 4;       // of w in a group: fewer leave most of a tile empty
constexpr int64_t kMostOfGrid = 65535;  // blocks along its second and third axis

ConvMeans alone(const GpuInfo& gpu) { return {gpu, kTiles, false}; }
ConvMeans clustered(const GpuInfo& gpu) { return {gpu, kHopperTiles, true}; }

// Returns the elements of x from a window's first element to its last.
int64_t window_elements(const Problem& p) {
  WindowAxis axes[kWindowAxes];
  place_windows(p, axes);
  int64_t elements = p.inputs[1].shape.back();
  for (const WindowAxis& axis : axes) elements += (axis.taps - 1) * axis.dilation * std::abs(axis.x_stride);
  return elements;
}

Verdict supports_either(const Problem& p, const ConvMeans& means) {
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
  if (window_elements(p) > INT32_MAX) return reject("windows that reach over 2^31 elements of x or more");
  const auto cuts = conv_cuts(p, means);
  if (cuts.empty())
    return reject(
        fmt::format("no tile of such lines fits {} bytes of shared memory", means.gpu.shared_bytes_per_block));
  for (const ConvCut& cut : cuts)
    if (cut.column_tiles() > kMostOfGrid || op.groups * cut.parts > kMostOfGrid) return reject("too many groups");
  return accept();
}

std::vector<Tunable> tunables_of(const Problem& p, const ConvMeans& means) {
  Tunable cuts(kConvParameters);
  for (const ConvCut& cut : conv_cuts(p, means)) cuts.values.push_back(parameters_of(cut));
  return {cuts};
}

ConvCut cut_of(const Problem& p, const ConvMeans& means) {
  const auto fitting = conv_cuts(p, means);
  const ConvCut* asked = find_asked(p, kConvParameters, fitting);
  return asked ? *asked : fitting.front();
}

ConvTilesArguments arguments_of(const Call& call, const ConvCut& cut) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Problem& p = call.problem;
  ConvTilesArguments a{.x = call.inputs[0], .w = call.inputs[1], .sums = call.scratch, .end = conv_end_of(call)};
  place_windows(p, a.axes);
  a.x_batch = p.inputs[0].strides[0];
  a.channels = size(p.inputs[1].shape.back()), a.rows_of_group = size(cut.size.channels_of_group);
  a.rows = size(p.output.shape.back());
  a.results = size(cut.size.results), a.elements = size(cut.size.elements);
  a.stages = size(cut.stages()), a.part_bits = size(std::countr_zero(size(cut.parts)));
  a.by_channels = Divisor(a.channels);
  for (int axis = 0; axis < kWindowAxes; ++axis) {
    a.distances[axis] = static_cast<int32_t>(a.axes[axis].taps > 1 ? a.axes[axis].dilation * a.axes[axis].x_stride : 0);
    a.by_results[axis] = Divisor(static_cast<uint32_t>(a.axes[axis].results));
    a.by_taps[axis] = Divisor(static_cast<uint32_t>(a.axes[axis].taps));
  }
  a.w_is_constant = p.inputs[1].constant;
  return a;
}

Launch launch_of(const GpuInfo& gpu, const ConvCut& cut, bool clusters) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const ConvTile& tile = cut.tile.config;
  return {.grid = {size(cut.row_tiles()), size(cut.column_tiles()), size(cut.size.groups * cut.parts)},
          .block = {size(tile.threads(gpu.lanes))},
          .cluster = {1, 1, clusters ? size(cut.parts) : 1},
          .shared_bytes = tile.shared_bytes(clusters),
          .dependent = gpu.dependent_launch};
}

Verdict supports_alone(const Problem& p, const Machine& machine) { return supports_either(p, alone(machine.gpu)); }
std::vector<Tunable> tunables_alone(const Problem& p, const Machine& machine) {
  return tunables_of(p, alone(machine.gpu));
}
size_t scratch_bytes(const Problem& p, const Machine& machine) {
  const int64_t parts = cut_of(p, alone(machine.gpu)).parts;
  return parts > 1 ? static_cast<size_t>(parts * p.output.shape.product()) * sizeof(float) : 0;
}
Status enqueue_alone(const Call& call) {
  const GpuInfo& gpu = call.gpu.info();
  const ConvCut cut = cut_of(call.problem, alone(gpu));
  const ConvTilesArguments a = arguments_of(call, cut);
  RUNG_CHECK(call.launch("conv_tiles", cut.tile.symbol, launch_of(gpu, cut, false), a));
  if (cut.parts == 1) return {};
  return call.launch("conv_tiles", "conv_join",
                     launch_threads(call, int64_t{a.results} * a.rows / kTogether, kConvJoinThreads), a);
}

Verdict supports_clustered(const Problem& p, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (p.output.shape.back() / p.as<Conv>().groups % kTogether)
    return reject(fmt::format("channels of a group are no multiple of {}", kTogether));
  return supports_either(p, clustered(machine.gpu));
}
std::vector<Tunable> tunables_clustered(const Problem& p, const Machine& machine) {
  return tunables_of(p, clustered(machine.gpu));
}
Status enqueue_clustered(const Call& call) {
  const GpuInfo& gpu = call.gpu.info();
  const ConvCut cut = cut_of(call.problem, clustered(gpu));
  return call.launch("conv_tiles_sm90", cut.tile.symbol, launch_of(gpu, cut, true), arguments_of(call, cut));
}

}  // namespace

extern const Kernel conv_tiles{.name = "conv_tiles",
                               .op = "conv",
                               .supports = supports_alone,
                               .scratch_bytes = scratch_bytes,
                               .tunables = tunables_alone,
                               .alignment = 16,
                               .enqueue = enqueue_alone};
extern const Kernel conv_tiles_sm90{.name = "conv_tiles_sm90",
                                    .op = "conv",
                                    .supports = supports_clustered,
                                    .tunables = tunables_clustered,
                                    .alignment = 16,
                                    .enqueue = enqueue_clustered};

}  // namespace rung::gpu

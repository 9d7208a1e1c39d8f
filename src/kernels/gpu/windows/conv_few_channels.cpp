// The row of convolutions of few channels, whose places are no multiple of 16 bytes: the first ones of images.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_few_channels.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ConvTile> kVariants[] = {
#include "kernels/gpu/windows/conv_few_channels.inc"
};
constexpr int64_t kTileWindows = 64;
constexpr int64_t kMostOfGrid = 65535;  // blocks along its second and third axis
static_assert(std::all_of(std::begin(kVariants), std::end(kVariants),
                          [](const auto& each) { return each.config.rows == kTileWindows; }));

// The lines of a problem's windows, and the tile of windows of a block.
struct Lines {
  WindowAxis axes[kWindowAxes];
  int64_t channels, line, even_line;
  int column_bits = 3;

  explicit Lines(const Problem& p) : channels(p.inputs[1].shape.back()) {
    place_windows(p, axes);
    line = axes[2].taps * channels, even_line = line + line % 2;
    for (int64_t rows = kTileWindows >> column_bits; rows > 1 && axes[1].results <= rows / 2; rows /= 2) ++column_bits;
  }
  int64_t rows() const { return kTileWindows >> column_bits; }
  int64_t columns() const { return int64_t{1} << column_bits; }
  int64_t elements() const { return axes[1].taps * even_line; }  // of a window
  int64_t stages(const ConvTile& tile) const { return divide_up(elements(), int64_t{tile.depth()}); }
  int64_t patch_rows() const { return (rows() - 1) * axes[1].stride + (axes[1].taps - 1) * axes[1].dilation + 1; }
  int64_t patch_elements() const { return (columns() - 1) * axes[2].stride * channels + line; }
  int64_t patch_bytes() const { return patch_rows() * patch_elements() * 2; }
};

// Returns the narrowest tile that has all channels of the result, or else the widest; null: none is of the type.
const Variant<ConvTile>* tile_of(const Problem& p) {
  const Variant<ConvTile>* chosen = nullptr;
  for (const auto& each : kVariants)
    if (each.config.type == p.inputs[0].dtype && (!chosen || each.config.columns >= p.output.shape.back()))
      chosen = &each;
  return chosen;
}

Verdict supports_lines(const Problem& p, const Machine& machine) {
  const Lines lines(p);
  constexpr int64_t kUnit = 8;
  if (lines.channels % kUnit == 0) return reject("places of x are multiples of 16 bytes");
  if (lines.axes[0].taps != 1 || lines.axes[0].extent != 1) return reject("windows of three axes");
  if (lines.axes[2].dilation != 1 || lines.axes[2].x_stride != lines.channels)
    return reject("places of a window's line are no neighbours");
  if (lines.axes[1].x_stride * lines.axes[1].extent > INT32_MAX) return reject("images of 2^31 elements or more");
  const auto* tile = tile_of(p);
  if (!tile) return reject("x is not of 16 bits");
  const int64_t stages = lines.stages(tile->config);
  if (stages > kFewChannelsMostStages || lines.patch_bytes() > kFewChannelsPatchBytes)
    return reject(fmt::format("windows of {} elements in patches of {} bytes: wanted at most {} and {}",
                              lines.elements(), lines.patch_bytes(), kFewChannelsMostStages * tile->config.depth(),
                              kFewChannelsPatchBytes));
  return supports_shared_bytes(static_cast<uint32_t>(few_channels_bytes(tile->config, static_cast<int>(stages))),
                               machine.gpu);
}

Verdict supports(const Problem& p, const Machine& machine) {
  const Conv& op = p.as<Conv>();
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  if (auto verdict = supports_conv(p); !verdict) return verdict;
  if (auto verdict = supports_dense_bias(p); !verdict) return verdict;
  if (op.transposed) return reject("transposed");
  if (op.groups != 1) return reject("several groups");
  if (x.dtype != w.dtype) return reject("x and w have different types");
  if (!w.constant || !w.contiguous()) return reject("w is not constant and dense");
  if (x.strides.back() != 1) return reject("channels of x are not dense");
  if (p.output.shape.product() == 0 || w.shape.product() == 0) return reject("nothing to multiply");
  if (x.shape[0] > kMostOfGrid) return reject(fmt::format("more than {} images", kMostOfGrid));
  return supports_lines(p, machine);
}

size_t packed_bytes(const Problem& p, const Machine&, size_t operand) {
  if (operand != 1) return 0;
  const ConvTile& tile = tile_of(p)->config;
  return static_cast<size_t>(p.output.shape.back() * Lines(p).stages(tile) * tile.depth() * tile.bytes());
}

// Puts a zero behind lines of odd length, and zeros behind the last line of a row of w.
void pack(const Problem& p, const Machine& machine, size_t operand, const void* from, void* to) {
  const Lines lines(p);
  const int64_t rows = p.output.shape.back(), taps = lines.axes[1].taps;
  const ConvTile& tile = tile_of(p)->config;
  const auto bytes = [&](int64_t elements) { return static_cast<size_t>(elements * tile.bytes()); };
  std::memset(to, 0, packed_bytes(p, machine, operand));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t tap = 0; tap < taps; ++tap)
      std::memcpy(static_cast<char*>(to) + bytes(row * lines.stages(tile) * tile.depth() + tap * lines.even_line),
                  static_cast<const char*>(from) + bytes((row * taps + tap) * lines.line), bytes(lines.line));
}

Status enqueue(const Call& call) {
  const auto size = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Problem& p = call.problem;
  const Lines lines(p);
  const auto& [tile, symbol] = *tile_of(p);
  FewChannelsArguments a{.x = call.inputs[0], .w = call.inputs[1], .end = conv_end_of(call)};
  std::copy(std::begin(lines.axes), std::end(lines.axes), a.axes);
  a.x_batch = p.inputs[0].strides[0];
  a.rows = size(p.output.shape.back()), a.stages = size(lines.stages(tile));
  a.channels = size(lines.channels), a.line = size(lines.line), a.even_line = size(lines.even_line);
  a.column_bits = size(lines.column_bits), a.row_tiles = size(divide_up(int64_t{a.axes[1].results}, lines.rows()));
  a.patch_rows = size(lines.patch_rows()), a.patch_elements = size(lines.patch_elements());
  a.x_row = static_cast<int32_t>(a.axes[1].x_stride), a.patch = Divisor(a.patch_elements);
  const int64_t column_tiles = divide_up(int64_t{a.axes[2].results}, lines.columns());
  const Launch shape{
      .grid = {size(a.row_tiles * column_tiles), divide_up(a.rows, size(tile.columns)), size(p.output.shape[0])},
      .block = {size(tile.threads(call.gpu.info().lanes))},
      .shared_bytes = size(few_channels_bytes(tile, static_cast<int>(a.stages))),
      .dependent = call.gpu.info().dependent_launch};
  return call.launch("conv_few_channels", symbol, shape, a);
}

}  // namespace

extern const Kernel conv_few_channels;
const Kernel conv_few_channels{.name = "conv_few_channels",
                               .op = "conv",
                               .supports = supports,
                               .packed_bytes = packed_bytes,
                               .pack = pack,
                               .alignment = 16,
                               .enqueue = enqueue};

}  // namespace rung::gpu

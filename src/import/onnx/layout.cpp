// Operators of ONNX graphs that exchange depth and space, cut or frame.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// The block's size, which is known to divide extents that it is checked against.
int64_t block_of(const Call& call) {
  const NodeId x = call[0];
  const int64_t size = call.integer("blocksize");
  if (call.rank(x) != 4 || size < 1 || size > exported::kMostMade) refuse("blocks of {} in {}", size, call.type(x));
  return size;
}

// Whether the block is the outer part of the depth, or else the channel.
bool blocks_first(const Call& call) {
  const std::string mode = call.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") refuse("mode: got '{}', wanted DCR or CRD", mode);
  return mode == "DCR";
}

}  // namespace

// [B,C,H b,W b] -> [B,b b C,H,W]
Outputs space_to_depth(const Call& call) {
  const int64_t b = block_of(call);
  const Shape s = call.shape(call[0]);
  if (s[2] % b || s[3] % b) refuse("blocks of {} in {}", b, call.type(call[0]));
  const Dims order = blocks_first(call) ? Dims{0, 3, 5, 1, 2, 4} : Dims{0, 1, 3, 5, 2, 4};
  const NodeId apart = call.reshape(call[0], Shape{s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {call.reshape(call.transpose(apart, order), Shape{s[0], b * b * s[1], s[2] / b, s[3] / b})};
}

// [B,b b C,H,W] -> [B,C,H b,W b].
Outputs depth_to_space(const Call& call) {
  const int64_t b = block_of(call);
  const Shape s = call.shape(call[0]);
  if (s[1] % (b * b)) refuse("blocks of {} in {}", b, call.type(call[0]));
  const int64_t channels = s[1] / (b * b);
  const bool outer = blocks_first(call);
  const Shape parts = outer ? Shape{s[0], b, b, channels, s[2], s[3]} : Shape{s[0], channels, b, b, s[2], s[3]};
  const Dims order = outer ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3};
  return {call.reshape(call.transpose(call.reshape(call[0], parts), order), Shape{s[0], channels, s[2] * b, s[3] * b})};
}

// Cuts or frames axes about their centre; an odd rest goes behind.
Outputs center_crop_pad(const Call& call) {
  NodeId x = call[0];
  const auto sizes = call.integers_of(1);
  auto axes = call.integers("axes");
  if (axes.empty())
    for (int i = 0; i < call.rank(x); ++i) axes.push_back(i);
  if (sizes.size() != axes.size()) refuse("got {} sizes for {} axes", sizes.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > exported::kMostMade) refuse("a size of {}", sizes[i]);
    const int64_t extent = call.shape(x)[call.axis(x, axes[i])], rest = sizes[i] - extent;
    if (rest < 0) {
      const int64_t begin = -rest / 2;
      x = call.slice(x, axes[i], begin, begin + sizes[i]);
    } else if (rest > 0) {
      x = call.padded(x, axes[i], rest / 2, rest - rest / 2, 0);
    }
  }
  return {x};
}

namespace {

// The element of an axis that stands at a place before or behind it; a reflection leaves the ends out.
int64_t mirrored(int64_t place, int64_t extent, const std::string& mode) {
  if (mode == "edge") return std::clamp<int64_t>(place, 0, extent - 1);
  if (mode == "wrap") return ((place % extent) + extent) % extent;
  const int64_t round = std::max<int64_t>(1, 2 * (extent - 1)), at = ((place % round) + round) % round;
  return std::min(at, round - at);
}

struct Frame {
  int axis;
  int64_t before, after;
};

NodeId copied_around(const Call& call, NodeId x, const Frame& frame, const std::string& mode) {
  const auto [axis, before, after] = frame;
  const int64_t extent = call.shape(x)[axis];
  for (const int64_t width : {before, after})
    if (width > exported::kMostMade || width < -extent) refuse("a frame of {} and {} around {}", before, after, extent);
  if (before + extent + after < 0 || extent == 0) refuse("a frame of {} and {} around {}", before, after, extent);
  std::vector<int64_t> places;
  for (int64_t i = -before; i < extent + after; ++i) places.push_back(mirrored(i, extent, mode));
  const Tensor list = Tensor::of<int64_t>({static_cast<int64_t>(places.size())}, places);
  return call.add(Gather{axis}, {x, call.literal(list)});
}

}  // namespace

// A frame around x, of all axes or of those that an input names: a constant, or copies of what is inside. Older files
// have widths and the constant as attributes.
Outputs pad(const Call& call) {
  NodeId x = call[0];
  const bool as_inputs = call.has(1);
  const auto widths = as_inputs ? call.integers_of(1) : call.integers(call.version() < 2 ? "paddings" : "pads");
  auto axes = call.has(3) ? call.integers_of(3) : std::vector<int64_t>();
  if (axes.empty())
    for (int i = 0; i < call.rank(x); ++i) axes.push_back(i);
  if (widths.size() != 2 * axes.size()) refuse("got {} widths for {} axes", widths.size(), axes.size());
  const std::string mode = call.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    refuse("mode: got '{}', wanted constant, edge, reflect or wrap", mode);
  double value = call.number("value", 0);
  if (call.has(2)) {
    const auto given = call.value_of(call[2]);
    if (!given || given->elements() != 1) refuse("the constant depends on the values of an input");
    value = static_cast<double>(convert(*given, DType::f32).as<float>()[0]);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = widths[i], after = widths[axes.size() + i];
    if (before == 0 && after == 0) continue;
    x = mode == "constant" ? call.padded(x, axes[i], before, after, value)
                           : copied_around(call, x, {call.axis(x, axes[i]), before, after}, mode);
  }
  return {x};
}

}  // namespace rung::onnx::operators

// Operators of ONNX graphs that exchange depth and space, cut or frame.
// SPDX-License-Identifier: Apache-2.0
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

}  // namespace rung::onnx::operators

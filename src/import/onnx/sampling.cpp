// Operators of ONNX graphs that read an image between its elements: at a grid of places, or within regions.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/sampling.hpp"

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::Between;
using exported::Outside;
using exported::refuse;

Outside outside_of(const Call& call) {
  const std::string word = call.text("padding_mode", "zeros");
  if (word == "zeros") return Outside::zeros;
  if (word == "border") return Outside::border;
  if (word != "reflection") refuse("padding_mode: got '{}', wanted zeros, border or reflection", word);
  return Outside::reflection;
}

Between between_of(const Call& call) {
  const std::string word = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  if (word == "bilinear" || word == "linear") return Between::linear;
  if (word == "bicubic" || word == "cubic") return Between::cubic;
  if (word != "nearest") refuse("mode: got '{}', wanted linear, nearest or cubic", word);
  return Between::nearest;
}

bool aligns_corners(const Call& call) { return call.integer("align_corners", 0) != 0; }

}  // namespace

Outputs grid_sample(const Call& call) {
  return {exported::grid_sample(call, {.x = call[0],
                                       .grid = call[1],
                                       .between = between_of(call),
                                       .outside = outside_of(call),
                                       .corners = aligns_corners(call),
                                       .rounds_first = true})};
}

Outputs affine_grid(const Call& call) {
  return {exported::affine_grid(call, call[0], call.integers_of(1), aligns_corners(call))};
}

Outputs roi_align(const Call& call) {
  const std::string mode = call.text("mode", "avg");
  if (mode != "avg") refuse("mode: got '{}', wanted avg", mode);
  const std::string left_out = call.version() < 16 ? "output_half_pixel" : "half_pixel";
  return {
      exported::region_align(call, {.x = call[0],
                                    .regions = call[1],
                                    .images = call[2],
                                    .rows = call.integer("output_height", 1),
                                    .columns = call.integer("output_width", 1),
                                    .samples = call.integer("sampling_ratio", 0),
                                    .scale = call.number("spatial_scale", 1),
                                    .half = call.text("coordinate_transformation_mode", left_out) == "half_pixel"})};
}

Outputs deform_conv(const Call& call) {
  const auto both = [&](std::string_view name, int64_t left_out) {
    const auto given = call.integers(name, {left_out, left_out});
    if (given.size() < 2) refuse("{}: got {} numbers, wanted 2", name, given.size());
    return std::array<int64_t, 2>{given[0], given[1]};
  };
  return {exported::deformable_convolution(call, {.x = call[0],
                                                  .weight = call[1],
                                                  .offset = call[2],
                                                  .mask = call.optional(4),
                                                  .bias = call.optional(3),
                                                  .stride = both("strides", 1),
                                                  .before = both("pads", 0),
                                                  .dilation = both("dilations", 1),
                                                  .groups = call.integer("group", 1),
                                                  .parts = call.integer("offset_group", 1)})};
}

}  // namespace rung::onnx::operators

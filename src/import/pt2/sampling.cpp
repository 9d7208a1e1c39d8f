// Operators of exported programs that read an image between its elements: at a grid of places, or within regions.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/sampling.hpp"

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::Between;
using exported::Outside;
using exported::refuse;

// The number of a mode, as PyTorch counts them.
template <class Mode, size_t N>
Mode mode_at(const Call& call, std::string_view name, const Mode (&modes)[N]) {
  const int64_t number = call.integer(name);
  if (number < 0 || number >= static_cast<int64_t>(N)) refuse("{}: got {}, wanted 0 to {}", name, number, N - 1);
  return modes[number];
}

}  // namespace

Values grid_sampler(const Call& call) {
  constexpr Between kBetween[] = {Between::linear, Between::nearest, Between::cubic};
  constexpr Outside kOutside[] = {Outside::zeros, Outside::border, Outside::reflection};
  return one(exported::grid_sample(call, {.x = call.tensor("input"),
                                          .grid = call.tensor("grid"),
                                          .between = mode_at(call, "interpolation_mode", kBetween),
                                          .outside = mode_at(call, "padding_mode", kOutside),
                                          .corners = call.flag("align_corners")}));
}

Values affine_grid(const Call& call) {
  return one(exported::affine_grid(call, call.tensor("theta"), call.integers("size"), call.flag("align_corners")));
}

// Rows of "rois" are the number of an image and four edges.
Values roi_align(const Call& call) {
  const NodeId rows = call.tensor("rois");
  if (call.rank(rows) != 2 || call.shape(rows)[1] != 5) refuse("regions of {}, wanted rows of 5", call.type(rows));
  return one(exported::region_align(call, {.x = call.tensor("input"),
                                           .regions = call.Emit::slice(rows, 1, 1, 5),
                                           .images = call.select_index(rows, 1, 0),
                                           .rows = call.integer("pooled_height"),
                                           .columns = call.integer("pooled_width"),
                                           .samples = call.integer("sampling_ratio"),
                                           .scale = call.number("spatial_scale"),
                                           .half = call.flag("aligned")}));
}

Values deform_conv2d(const Call& call) {
  const auto both = [&](std::string_view down, std::string_view right) {
    return std::array<int64_t, 2>{call.integer(down), call.integer(right)};
  };
  return one(exported::deformable_convolution(
      call, {.x = call.tensor("input"),
             .weight = call.tensor("weight"),
             .offset = call.tensor("offset"),
             .mask = call.flag("use_mask") ? call.optional_tensor("mask") : std::nullopt,
             .bias = call.optional_tensor("bias"),
             .stride = both("stride_h", "stride_w"),
             .before = both("pad_h", "pad_w"),
             .dilation = both("dilation_h", "dilation_w"),
             .groups = call.integer("groups"),
             .parts = call.integer("offset_groups")}));
}

}  // namespace rung::pt2::operators

// Operators of exported programs that move channels into places, and places into channels.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

// x as [N, channels, height, width], with all axes before the channels as one.
Shape image_of(const Call& call, NodeId x) {
  const Shape& shape = call.shape(x);
  if (shape.rank() < 3) refuse("blocks of pixels of {}", call.type(x));
  Shape image{1, shape.back(2), shape.back(1), shape.back()};
  for (int axis = 0; axis < shape.rank() - 3; ++axis) image[0] *= shape[axis];
  return image;
}

Shape with_image(Shape shape, int64_t channels, int64_t height, int64_t width) {
  const int rank = shape.rank();
  shape[rank - 3] = channels, shape[rank - 2] = height, shape[rank - 1] = width;
  return shape;
}

int64_t factor_of(const Call& call, const char* name) {
  const int64_t factor = call.integer(name);
  if (factor < 1 || factor > exported::kMostMade) refuse("blocks of {} pixels", factor);
  return factor;
}

}  // namespace

Values pixel_shuffle(const Call& call) {
  const NodeId x = call.tensor("self");
  const Shape image = image_of(call, x);
  const int64_t factor = factor_of(call, "upscale_factor");
  if (image[1] % (factor * factor)) refuse("blocks of {} pixels of {}", factor, call.type(x));
  const int64_t channels = image[1] / (factor * factor);
  const NodeId apart = call.reshape(x, Shape{image[0], channels, factor, factor, image[2], image[3]});
  return one(call.reshape(call.transpose(apart, {0, 1, 4, 2, 5, 3}),
                          with_image(call.shape(x), channels, image[2] * factor, image[3] * factor)));
}

Values pixel_unshuffle(const Call& call) {
  const NodeId x = call.tensor("self");
  const Shape image = image_of(call, x);
  const int64_t factor = factor_of(call, "downscale_factor");
  if (image[2] % factor || image[3] % factor) refuse("blocks of {} pixels of {}", factor, call.type(x));
  const int64_t height = image[2] / factor, width = image[3] / factor;
  const NodeId apart = call.reshape(x, Shape{image[0], image[1], height, factor, width, factor});
  return one(call.reshape(call.transpose(apart, {0, 1, 3, 5, 2, 4}),
                          with_image(call.shape(x), image[1] * factor * factor, height, width)));
}

Values channel_shuffle(const Call& call) {
  const NodeId x = call.tensor("self");
  const Shape whole = call.shape(x);
  const int64_t groups = call.integer("groups");
  if (whole.rank() < 2 || groups < 1 || whole[1] % groups) refuse("{} groups of {}", groups, call.type(x));
  Shape apart = whole;
  apart[1] = whole[1] / groups;
  apart.insert(1, groups);
  return one(call.reshape(call.swap_axes(call.reshape(x, apart), 1, 2), whole));
}

}  // namespace rung::pt2::operators

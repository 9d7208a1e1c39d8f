// Adds patches up in their places: a transposed convolution does, whose filters each put one element where it was.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/patches.hpp"

namespace rung::exported {
namespace {

// A filter for each element of a window, which is 1 there: [size of a window, 1, size...].
NodeId one_of_each(const Emit& emit, const Patches& patches) {
  const int64_t elements = patches.elements();
  if (elements > kMostMade / elements) refuse("a table of {} by {}", elements, elements);
  Shape shape{elements, 1};
  for (const int64_t size : patches.size) shape.push_back(size);
  Tensor filters({DType::f32, shape});
  for (int64_t i = 0; i < elements; ++i) filters.as<float>()[static_cast<size_t>(i * elements + i)] = 1;
  return emit.literal(filters);
}

}  // namespace

int64_t Patches::elements() const {
  int64_t product = 1;
  for (const int64_t extent : size) {
    if (extent < 1 || extent > kMostMade / product) refuse("windows of {} by {} elements", product, extent);
    product *= extent;
  }
  return product;
}

int64_t Patches::count(size_t axis, int64_t extent) const {
  const int64_t reach = dilation[axis] * (size[axis] - 1) + 1, room = extent + before[axis] + after[axis] - reach;
  if (room < 0) refuse("windows of {} over an axis of {}", reach, extent);
  return room / stride[axis] + 1;
}

NodeId summed_patches(const Emit& emit, NodeId x, const std::vector<int64_t>& to, const Patches& patches) {
  const Shape s = emit.shape(x);
  const int64_t elements = patches.elements();
  if (to.empty() || to.size() > 3) refuse("an image of {} axes, wanted one to three", to.size());
  Shape windows{0, elements}, image{0, 0};
  int64_t all = 1;
  for (size_t axis = 0; axis < to.size(); ++axis) {
    windows.push_back(patches.count(axis, to[axis]));
    image.push_back(to[axis]);
    if (windows.back() > kMostMade / all) refuse("{} windows and more", all);
    all *= windows.back();
  }
  if (s.rank() != 3 || s[1] % elements || s[2] != all)
    refuse("windows of {}, wanted a multiple of {} elements of {} windows", emit.type(x), elements, all);
  image[0] = s[0], image[1] = s[1] / elements, windows[0] = image[0] * image[1];
  NodeId y = emit.convolution({.x = emit.reshape(x, windows),
                               .w = emit.cast(one_of_each(emit, patches), emit.dtype(x)),
                               .bias = {},
                               .windows = {.stride = patches.stride, .dilation = patches.dilation},
                               .transposed = true});
  // The sums around the image are left out; no window may reach the last places.
  for (size_t axis = 0; axis < to.size(); ++axis) {
    const int at = static_cast<int>(axis) + 2;
    const int64_t begin = patches.before[axis], end = begin + to[axis];
    y = emit.padded(y, at, -begin, end - emit.shape(y)[at], 0);
  }
  return emit.reshape(y, image);
}

}  // namespace rung::exported

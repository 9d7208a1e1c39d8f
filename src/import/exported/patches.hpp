// Patches of images: windows whose elements stand side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/exported/emit.hpp"

namespace rung::exported {

// Windows over the axes of an image, a number for each axis; `before` and `after`: elements around the image.
struct Patches {
  std::vector<int64_t> size, dilation, before, after, stride;

  int64_t elements() const;  // of a window
  // How many windows lie along an axis of an image.
  int64_t count(size_t axis, int64_t extent) const;
};

// [N,C size,windows] => [N,C,to...], as sums of what lies at each place.
NodeId summed_patches(const Emit& emit, NodeId x, const std::vector<int64_t>& to, const Patches& patches);

}  // namespace rung::exported

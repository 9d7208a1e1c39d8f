// Patches of ONNX graphs that add up to images.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/patches.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

void want_numbers(const std::vector<int64_t>& list, size_t wanted, int64_t least, const char* what) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (list.size() != wanted) refuse("{}: got {} numbers, wanted {}", what, list.size(), wanted);
  for (const int64_t number : list)
    if (number < least || number > kMost)
      refuse("{}: got {}, wanted a number from {} to {}", what, number, least, kMost);
}

}  // namespace

Outputs col2im(const Call& call) {
  const auto to = call.integers_of(1), size = call.integers_of(2);
  const size_t axes = to.size();
  const auto pads = call.integers("pads", std::vector<int64_t>(2 * axes, 0));
  want_numbers(to, axes, 1, "image_shape");
  want_numbers(size, axes, 1, "block_shape");
  want_numbers(pads, 2 * axes, 0, "pads");
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  const exported::Patches patches{.size = size,
                                  .dilation = call.integers("dilations", std::vector<int64_t>(axes, 1)),
                                  .before = {pads.begin(), middle},
                                  .after = {middle, pads.end()},
                                  .stride = call.integers("strides", std::vector<int64_t>(axes, 1))};
  want_numbers(patches.dilation, axes, 1, "dilations");
  want_numbers(patches.stride, axes, 1, "strides");
  return {exported::summed_patches(call, call[0], to, patches)};
}

}  // namespace rung::onnx::operators

// Windows over up to three axes, as device code takes them, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

inline constexpr int kWindowAxes = 3;

// One axis; see Window (ir/windows.hpp). Axes that an op lacks come first, with ones.
struct WindowAxis {
  int64_t x_stride, w_stride;  // from element to element of x, and from tap to tap of w
  int32_t extent, results, taps, stride, dilation, before;
};

}  // namespace rung::gpu

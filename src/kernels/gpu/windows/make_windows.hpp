// Fills the windows of an op for its launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/windows.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// Accepts windows whose places 32-bit numbers count.
inline Verdict supports_window(const Window& window) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const int64_t reach = window.dilation * (window.taps - 1) + 1;
  if (window.extent >= kMost || window.results() >= kMost || reach >= kMost ||
      window.results() > kMost / window.stride || (window.transposed && window.extent > kMost / window.stride))
    return reject("windows reach over 2^30 elements");
  return accept();
}

inline WindowAxis axis_of(const Window& window, int64_t x_stride, int64_t w_stride) {
  const auto narrow = [](int64_t n) { return static_cast<int32_t>(n); };
  return {.x_stride = x_stride,
          .w_stride = w_stride,
          .extent = narrow(window.extent),
          .results = narrow(window.results()),
          .taps = narrow(window.taps),
          .stride = narrow(window.stride),
          .dilation = narrow(window.dilation),
          .before = narrow(window.before)};
}

}  // namespace rung::gpu

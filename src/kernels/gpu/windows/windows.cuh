// The places of one result, and the elements that its window sees.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// A result of a dense tensor [B,R...,C]: its batch, its place along each axis and its channel.
struct ResultPlace {
  uint32_t batch, channel;
  int32_t at[kWindowAxes];
};

__device__ inline ResultPlace place_of_result(const WindowAxis* axes, uint32_t channels, uint32_t index) {
  ResultPlace place;
  place.channel = index % channels;
  index /= channels;
  for (int axis = kWindowAxes - 1; axis >= 0; --axis) {
    place.at[axis] = static_cast<int32_t>(index % static_cast<uint32_t>(axes[axis].results));
    index /= static_cast<uint32_t>(axes[axis].results);
  }
  place.batch = index;
  return place;
}

// Returns the element that a result sees through a tap; below 0: none.
__device__ inline int32_t seen(const WindowAxis& axis, bool transposed, int32_t result, int32_t tap) {
  int32_t at = transposed ? result + axis.before - tap * axis.dilation
                          : result * axis.stride + tap * axis.dilation - axis.before;
  if (transposed) {
    if (at < 0 || at % axis.stride != 0) return -1;
    at /= axis.stride;
  }
  return at < axis.extent ? at : -1;
}

}  // namespace rung::gpu

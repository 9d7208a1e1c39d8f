// The strided copy that other rows use, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

// Strides are in elements of `bytes` bytes.
struct StridedCopy {
  Address from, to;
  Shape shape;
  Strides from_strides, to_strides;
  size_t bytes;
};
// Makes one launch, in units as wide as addresses and strides allow; none for an empty shape.
Status enqueue_copy(const Call& call, const StridedCopy& copy);

}  // namespace rung::gpu

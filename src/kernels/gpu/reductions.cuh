// Reductions over a warp, a block or a group of threads, in an order that depends only on their size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

constexpr int kMaxWarps = 1024 / kLanes;

// Room in shared memory for values of a type with initialisers, which not every compiler takes there.
template <class T, int n>
struct Room {
  alignas(T) unsigned char bytes[n * sizeof(T)];
  __device__ T* begin() { return reinterpret_cast<T*>(bytes); }
};

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
// Returns the larger value; a NaN on either side stays.
struct Max {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

// Every lane gets the result.
template <class Operation, class T>
__device__ inline T reduce_warp(T value, Operation operation) {
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) value = operation(value, shuffle_xor(value, mask));
  return value;
}

// Every thread of the block gets the result. `partial` holds kMaxWarps values in shared memory; nothing else may use it
// before the block's next barrier.
template <class Operation, class T>
__device__ inline T reduce_block(T value, Operation operation, T* partial) {
  value = reduce_warp(value, operation);
  if (lane() == 0) partial[warp()] = value;
  sync_block();
  value = partial[0];
  for (int i = 1; i < static_cast<int>(blockDim.x) / kLanes; ++i) value = operation(value, partial[i]);
  return value;
}

}  // namespace rung::gpu

// What the attention kernels share: packed rows of queries, keys across segments, and the running softmax.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention_arguments.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

inline constexpr float kLog2E = 1.4426950408889634f;

// The rows of one block: all heads that read key head `group` of `batch`.
struct AttentionRows {
  const AttentionArguments& a;
  int batch, group;

  __device__ int ratio() const { return a.heads / a.groups; }
  __device__ int count() const { return a.queries * ratio(); }
  __device__ int query(int row) const { return row / ratio(); }
  __device__ int head(int row) const { return group * ratio() + row % ratio(); }
  template <class T>
  __device__ const T* q(int row) const {
    return static_cast<const T*>(a.q) + batch * a.q_stride[0] + query(row) * a.q_stride[1] + head(row) * a.q_stride[2];
  }
  template <class T>
  __device__ T* out(int row) const {
    const int64_t position = static_cast<int64_t>(batch) * a.queries + query(row);
    return static_cast<T*>(a.out) + (position * a.heads + head(row)) * a.width;
  }
  __device__ const float* mask(int row) const {
    return a.mask + batch * a.mask_stride[0] + head(row) * a.mask_stride[1] + query(row) * a.mask_stride[2];
  }
};

template <class T>
struct KeyValue {
  const T* k;
  const T* v;
};

// Key number `key` of all segments one after another; `key` < a.keys.
template <class T>
__device__ inline KeyValue<T> key_value(const AttentionArguments& a, int batch, int group, int key) {
  int s = 0;
  while (s + 1 < a.segments && key >= a.segment[s].keys) key -= a.segment[s++].keys;
  const AttentionSegment& from = a.segment[s];
  return {static_cast<const T*>(from.k) + batch * from.k_stride[0] + key * from.k_stride[1] + group * from.k_stride[2],
          static_cast<const T*>(from.v) + batch * from.v_stride[0] + key * from.v_stride[1] + group * from.v_stride[2]};
}

// Largest score and sum of exp(score - largest) of the keys seen so far by one row. Scores of -inf are keys that do
// not exist; a row that has seen only those has a sum of 0.
struct Running {
  float largest = -INFINITY;
  float sum = 0.0f;

  // Takes a new largest score in; returns the factor for what was summed before.
  __device__ float raise(float score) {
    const float before = largest;
    largest = fmaxf(before, score);
    const float factor = weight(before);
    sum *= factor;
    return factor;
  }
  __device__ float weight(float score) const {
    return fast_exp2((score - (largest == -INFINITY ? 0.0f : largest)) * kLog2E);
  }
};

}  // namespace rung::gpu

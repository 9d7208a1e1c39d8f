// The arguments of the vectorised rope, masked_mean and reduce kernels, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"
#include "ir/op.hpp"
#include "kernels/collapse.hpp"

namespace rung::cpu {

// `loops` covers the outer axes of x, cos and sin; rows of `width` are dense in all three.
struct RopePlan {
  Loops loops;
  int64_t width;
  DType x, cos, sin;
};
struct RopeWork {
  const RopePlan* plan;
  const void *x, *cos, *sin;
  void* out;
  int64_t begin, end;  // rows
};

// A weighted or plain reduction over `count` lines of `width` dense elements, for each of `batch`; with width 1 the
// count itself is dense.
struct ReducePlan {
  ReduceKind kind;
  int64_t batch, count, width;
  int64_t x_batch, x_line;        // strides
  int64_t mask_batch, mask_line;  // of the f32 weights, if weighted
  bool weighted;
  float eps;
  DType dtype;
};
struct ReduceWork {
  const ReducePlan* plan;
  const void* x;
  const float* mask;
  void* out;
  int64_t begin, end;  // elements of the output, in whole runs of 64 but the last; single ones if width is 1
};

namespace avx2 {
void rope(const RopeWork& work);
void reduce(const ReduceWork& work);
}  // namespace avx2
namespace avx512 {
void rope(const RopeWork& work);
void reduce(const ReduceWork& work);
}  // namespace avx512

}  // namespace rung::cpu

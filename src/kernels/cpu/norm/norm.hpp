// The arguments of the vectorised row-wise kernels (layer_norm, rms_norm, l2_normalize, softmax), in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"
#include "kernels/collapse.hpp"

namespace rung::cpu {

enum class NormKind { layer_norm, rms_norm, l2_normalize, softmax };

// The loops lead from row to row of x and residual, whose last axis is dense; the output is dense.
struct NormPlan {
  NormKind kind;
  int64_t rows, width;
  Loops loops;
  bool has_residual;
  float eps, weight_offset;
  DType x, weight, bias, out;
  int64_t thread_floats;  // scratch of one thread: a row, the weight and the bias in f32
};

// Rows that stand at one step from each other: x, residual and out are at the first of them.
struct NormWork {
  const NormPlan* plan;
  const void *x, *residual, *weight, *bias;
  void* out;
  float* scratch;
  int64_t rows;
};

namespace avx2 {
void norm(const NormWork& work);
}
namespace avx512 {
void norm(const NormWork& work);
}

}  // namespace rung::cpu

// The arguments of the vectorised row-wise kernels (layer_norm, rms_norm, l2_normalize, softmax), in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::cpu {

enum class NormKind { layer_norm, rms_norm, l2_normalize, softmax };

// Strides lead from row to row, in elements; the output is dense.
struct NormPlan {
  NormKind kind;
  int64_t rows, width, x_stride, residual_stride;
  bool has_residual;
  float eps, weight_offset;
  DType x, weight, bias, out;
  int64_t thread_floats;  // scratch of one thread: a row, the weight and the bias in f32
};

struct NormWork {
  const NormPlan* plan;
  const void *x, *residual, *weight, *bias;
  void* out;
  float* scratch;
  int64_t begin, end;  // rows
};

namespace avx2 {
void norm(const NormWork& work);
}
namespace avx512 {
void norm(const NormWork& work);
}

}  // namespace rung::cpu

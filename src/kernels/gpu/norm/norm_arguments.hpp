// The arguments of the row-wise kernels (layer_norm, rms_norm, l2_normalize, softmax), shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

enum class NormKind : uint8_t { layer_norm, rms_norm, l2_normalize, softmax };

struct NormOperand {
  uint64_t base;  // 0: absent
  int64_t step;   // elements from one column to the next
  DType type;
  bool vectors;  // eight neighbouring columns are aligned in every row
};

struct NormArguments {
  NormOperand x, residual, weight, bias, out;
  Nest<3> rows;  // locates each row of x, residual and out
  uint32_t width;
  uint32_t group;  // threads that share a row: one warp, or the whole block
  float eps, weight_offset;
  NormKind kind;
  bool weights_are_constant;
};

constexpr uint32_t kNormVector = 8;     // columns of a run; a thread keeps some runs
constexpr uint32_t kNormThreads = 512;  // of a block, at most

}  // namespace rung::gpu

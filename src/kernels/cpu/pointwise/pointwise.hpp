// A program of element-wise steps in the form that the vectorised interpreter runs: blocks of f32 in numbered slots.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"
#include "kernels/collapse.hpp"
#include "kernels/elementwise_code.hpp"

namespace rung::cpu {

inline constexpr int kMaxPointwiseInputs = 8, kMaxPointwiseSteps = 48, kMaxPointwiseSlots = 64;
inline constexpr int64_t kPointwiseBlock = 512;  // elements; a few slots of this size stay in the first-level cache

struct PointwiseStep {
  Code code;
  uint8_t from[3];  // slots
  uint8_t to;
};

// Slots hold the operands first, then literals, then results, whose slots are used again after their last reader.
struct PointwisePlan {
  Loops loops;  // over the operands; the output is dense
  int inputs, literals, steps, slots;
  DType input[kMaxPointwiseInputs], out;
  float literal[kMaxPointwiseSlots];
  PointwiseStep step[kMaxPointwiseSteps];
};

struct PointwiseWork {
  const PointwisePlan* plan;
  const void* const* inputs;
  void* out;
  float* scratch;      // slots of kPointwiseBlock
  int64_t begin, end;  // blocks; each row of the outer loops is cut into blocks along the inner axis
};

// Applies a function of one or two operands to n values of each.
void apply_scalar(Code code, float* to, int64_t n, const float* x, const float* y);
// Returns whether the interpreters compute the function in vectors, not by apply_scalar().
bool is_vectorised(Code code);

namespace avx2 {
void pointwise(const PointwiseWork& work);
}

}  // namespace rung::cpu

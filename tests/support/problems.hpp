// Problems for tests of keys, candidates and the tuner.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/problem.hpp"

namespace rung {

inline Operand dense(DType dtype, const Shape& shape, bool constant = false) {
  return {dtype, shape, contiguous_strides(shape), constant};
}

// linear(x: f32[m,k], w: f32[n,k]) with constant weights.
inline Problem linear_problem(int64_t m, int64_t n, int64_t k) {
  return {.op = Linear{},
          .inputs = {dense(DType::f32, {m, k}), dense(DType::f32, {n, k}, true)},
          .output = dense(DType::f32, {m, n})};
}

}  // namespace rung

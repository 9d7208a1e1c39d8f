// matmul, one element at a time, for any float types and strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::cpu {
namespace {

float dot(const Call& call, int64_t a_at, int64_t b_at, int64_t k) {
  const Operand &a = call.problem.inputs[0], &b = call.problem.inputs[1];
  float sum = 0.0f;
  for (int64_t i = 0; i < k; ++i)
    sum += load_f32(call.inputs[0], a.dtype, a_at + i * a.strides.back()) *
           load_f32(call.inputs[1], b.dtype, b_at + i * b.strides.back(1));
  return sum;
}

void run(const Call& call) {
  const Operand &a = call.problem.inputs[0], &b = call.problem.inputs[1];
  const MatMulShape shape(call.problem);
  const Range rows = share(shape.batch * shape.m, call.thread, call.team->size());
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t a_at = matrix_offset(call.problem, 0, row / shape.m) + row % shape.m * a.strides.back(1);
    const int64_t b_at = matrix_offset(call.problem, 1, row / shape.m);
    for (int64_t column = 0; column < shape.n; ++column)
      store_f32(call.output, call.problem.output.dtype, row * shape.n + column,
                dot(call, a_at, b_at + column * b.strides.back(), shape.k));
  }
}

Verdict supports(const Problem& problem, const Machine&) {
  for (const Operand& x : problem.inputs)
    if (!is_float(x.dtype) || !has_type(x.dtype)) return reject(fmt::format("an operand is {}", name_of(x.dtype)));
  return accept();
}

}  // namespace

extern const Kernel matmul_reference = {
    .name = "matmul_reference", .op = "matmul", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

// linear, one element at a time, for any float types and strides: the row that always works.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "ir/norm_row.hpp"
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::cpu {
namespace {

float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0.0f ? 0.0f : x;
    case Activation::gelu:
      return 0.5f * x * std::erfc(-x * 0.707106781f);
    case Activation::gelu_tanh:
      return 0.5f * x * (1.0f + std::tanh(0.797884561f * (x + 0.044715f * x * x * x)));
    case Activation::silu:
      return x / (1.0f + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

// Element offset of row `row` (all axes but the last, row-major) of a strided operand.
int64_t row_offset(const Operand& x, int64_t row) {
  int64_t offset = 0;
  for (int axis = x.shape.rank() - 2; axis >= 0; --axis) {
    offset += row % x.shape[axis] * x.strides[axis];
    row /= x.shape[axis];
  }
  return offset;
}

// One row of x.
struct Row {
  const Call& call;
  const LinearShape& shape;
  int64_t row;

  float at(size_t operand, int64_t offset) const {
    return load_f32(call.inputs[operand], call.problem.inputs[operand].dtype, offset);
  }
  float dot(int64_t w_row) const {
    const Operand &x = call.problem.inputs[0], &w = call.problem.inputs[1];
    const Line of_x{call.inputs[0], x.dtype, row_offset(x, row), x.strides.back()};
    const Line of_w{call.inputs[1], w.dtype, w_row * w.strides[0], w.strides[1]};
    const int64_t k = shape.k;
    float sum = 0.0f;
    for (int64_t i = 0; i < k; ++i) sum += of_x[i] * of_w[i];
    return sum;
  }
  float factor() const {  // of the row's products
    if (shape.squares_at < 0) return 1.0f;
    float sum = 0.0f;
    for (int64_t i = 0; i < norm_squares(shape.k); ++i) sum += beside(shape.squares_at, i);
    const int64_t runs = shape.k / kNormRun;
    return 1.0f / std::sqrt(sum / static_cast<float>(runs) + call.problem.as<Linear>().eps);
  }
  float biased(int64_t w_row) const {
    const float sum = dot(w_row) * factor();
    if (shape.bias_at < 0) return sum;
    const auto bias = static_cast<size_t>(shape.bias_at);
    return sum + at(bias, w_row * call.problem.inputs[bias].strides.back());
  }
  float beside(int operand, int64_t column) const {  // of the residual, cos, sin or squares
    const auto i = static_cast<size_t>(operand);
    const Operand& x = call.problem.inputs[i];
    return at(i, row_offset(x, row) + column * x.strides.back());
  }
  float rotated(int64_t column) const {
    const int64_t angle = column % shape.head, half = shape.head / 2;
    const float partner = biased(angle < half ? column + half : column - half);
    return biased(column) * beside(shape.cos_at, angle) +
           (angle < half ? -partner : partner) * beside(shape.sin_at, angle);
  }
  float element(int64_t column) const {
    const auto& op = call.problem.as<Linear>();
    if (column < shape.rotated) return rotated(column);
    float y = activate(op.activation, biased(column));
    if (op.gated) y *= biased(shape.n + column);
    if (shape.residual_at > 0) y += beside(shape.residual_at, column);
    return op.split_residual ? y + beside(shape.residual_at, shape.n + column) : y;
  }
  // The row for a norm, all of it.
  std::vector<float> norm_elements() const {
    const auto scale = static_cast<size_t>(shape.scale_at);
    const auto n = static_cast<size_t>(shape.n);
    std::vector<float> y(n), squares(n / kNormRun), all;
    for (size_t i = 0; i < n; ++i) {
      const auto column = static_cast<int64_t>(i);
      y[i] = element(column);
      squares[i / kNormRun] += y[i] * y[i] / kNormRun;
      all.push_back(y[i] * at(scale, column * call.problem.inputs[scale].strides[0]));
    }
    for (const std::vector<float>& part : {y, squares}) {
      all.insert(all.end(), part.begin(), part.end());  // high parts: rounded as they are stored
      for (float value : part) all.push_back(value - static_cast<float>(bf16(value)));
    }
    return all;
  }
};

void run(const Call& call) {
  const LinearShape shape(call.problem);
  const int64_t columns = call.problem.output.shape.back();
  const Range rows = share(shape.m, call.thread, call.team->size());
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const Row row{call, shape, i};
    const auto all = shape.scale_at > 0 ? row.norm_elements() : std::vector<float>{};
    for (int64_t column = 0; column < columns; ++column)
      store_f32(call.output, call.problem.output.dtype, i * columns + column,
                all.empty() ? row.element(column) : all[static_cast<size_t>(column)]);
  }
}

Verdict supports(const Problem& problem, const Machine&) {
  for (const Operand& x : problem.inputs)
    if (!is_float(x.dtype) || !has_type(x.dtype)) return reject(fmt::format("an operand is {}", name_of(x.dtype)));
  return accept();
}

}  // namespace

extern const Kernel linear_reference = {
    .name = "linear_reference", .op = "linear", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

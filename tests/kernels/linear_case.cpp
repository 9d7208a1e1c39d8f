// A linear problem with random operands, its result by a plain f64 loop, and one row's result.
// SPDX-License-Identifier: Apache-2.0
#include "linear_case.hpp"

#include <cmath>
#include <cstring>

#include "base/numeric.hpp"
#include "base/random.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/params_text.hpp"

namespace rung::cpu {
namespace {

float rounded(float value, DType type) { return type == DType::bf16 ? static_cast<float>(bf16(value)) : value; }

// Of i8: all numbers from -127 to 127, whatever `scale` is.
std::vector<float> random_values(int64_t count, DType type, uint64_t seed, float scale = 1.0f) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size() && type == DType::i8; ++i)
    values[i] = std::floor(255 * static_cast<float>(random_uniform(seed, i))) - 127;
  if (type == DType::i8) return values;
  for (size_t i = 0; i < values.size(); ++i) values[i] = rounded(random_normal(seed, i) * scale, type);
  return values;
}

std::vector<float> random_scales(int64_t count, uint64_t seed, float size) {
  std::vector<float> scales(static_cast<size_t>(count));
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = size * (0.5f + static_cast<float>(random_uniform(seed, i)));
  return scales;
}

// Rows of `columns` values with `gap` NaNs after each; of i8, -128s.
std::vector<std::byte> stored(const std::vector<float>& values, int64_t columns, int64_t gap, DType type) {
  const auto width = static_cast<size_t>(columns), stride = static_cast<size_t>(columns + gap);
  std::vector<std::byte> bytes(values.size() / std::max<size_t>(width, 1) * stride * size_of(type));
  for (size_t i = 0; i < bytes.size() / size_of(type); ++i) {
    float value = i % stride < width ? values[i / stride * width + i % stride] : NAN;
    const bf16 narrow(value);
    const auto byte = static_cast<int8_t>(std::isnan(value) ? -128 : value);
    const void* from = type == DType::f32 ? static_cast<const void*>(&value) : &narrow;
    if (type == DType::i8) from = &byte;
    std::memcpy(bytes.data() + i * size_of(type), from, size_of(type));
  }
  return bytes;
}

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

Operand rows_operand(DType type, int64_t rows, int64_t columns, int64_t gap = 0) {
  return {type, Shape{rows, columns}, Strides{columns + gap, 1}, false};
}

}  // namespace

std::string LinearCase::text() const {
  return fmt::format("m={} n={} k={} x={} w={} out={} {}{}{}{} gap={} extra={} threads={}{}", m, n, k, name_of(x),
                     name_of(w), name_of(out), name_of(activation), bias ? " bias" : "", residual ? " residual" : "",
                     gated ? " gated" : "", x_gap, name_of(extra), threads, params_text(params));
}

Problem problem_of(const LinearCase& c) {
  Linear op;
  op.epilogue.gated = c.gated, op.epilogue.activation = c.activation, op.out = c.out;
  const int64_t w_rows = c.gated ? 2 * c.n : c.n;
  Problem p;
  p.inputs = {rows_operand(c.x, c.m, c.k, c.x_gap), rows_operand(c.w, w_rows, c.k)};
  p.inputs[1].constant = true;
  if (c.bias) op.slots.put(p.inputs, LinearSlot::bias, Operand{c.extra, Shape{w_rows}, Strides{1}, true});
  if (c.residual) op.slots.put(p.inputs, LinearSlot::residual, rows_operand(c.extra, c.m, c.n, c.x_gap));
  if (c.w == DType::i8) op.slots.put(p.inputs, LinearSlot::scale, Operand{DType::f32, Shape{w_rows}, Strides{1}, true});
  if (c.x == DType::i8) op.slots.put(p.inputs, LinearSlot::x_scale, Operand{DType::f32, Shape{c.m}, Strides{1}});
  p.op = op;
  p.output = rows_operand(c.out, c.m, c.n);
  p.threads = c.threads;
  p.params = c.params;
  return p;
}

LinearData make_data(const LinearCase& c) {
  const int64_t w_rows = c.gated ? 2 * c.n : c.n;
  LinearData d;
  d.x = random_values(c.m * c.k, c.x, 1);
  d.w = random_values(w_rows * c.k, c.w, 2, 1.0f / std::sqrt(static_cast<float>(c.k)));
  if (c.bias) d.bias = random_values(w_rows, c.extra, 3);
  if (c.residual) d.residual = random_values(c.m * c.n, c.extra, 4);
  if (c.w == DType::i8) d.scale = random_scales(w_rows, 5, 0.01f / std::sqrt(static_cast<float>(c.k)));
  if (c.x == DType::i8) d.x_scale = random_scales(c.m, 6, 0.02f);
  auto dot = [&](int64_t row, int64_t w_row, double& magnitude) {
    double sum = 0, sizes = 0;
    for (int64_t i = 0; i < c.k; ++i) {
      double term = static_cast<double>(d.x[static_cast<size_t>(row * c.k + i)]) *
                    static_cast<double>(d.w[static_cast<size_t>(w_row * c.k + i)]);
      sum += term, sizes += std::abs(term);
    }
    const double scale = (d.scale.empty() ? 1.0 : static_cast<double>(d.scale[static_cast<size_t>(w_row)])) *
                         (d.x_scale.empty() ? 1.0 : static_cast<double>(d.x_scale[static_cast<size_t>(row)]));
    const double bias = c.bias ? static_cast<double>(d.bias[static_cast<size_t>(w_row)]) : 0.0;
    magnitude += scale * (c.x == DType::i8 ? std::abs(sum) : sizes) + std::abs(bias);
    return scale * sum + bias;
  };
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t column = 0; column < c.n; ++column) {
      double magnitude = 0, up_magnitude = 0, y = activate(c.activation, dot(row, column, magnitude));
      if (c.gated) {
        const double up = dot(row, c.n + column, up_magnitude);
        magnitude = magnitude * std::max(1.0, std::abs(up)) + up_magnitude * std::max(1.0, std::abs(y));
        y *= up;
      }
      if (c.residual) y += static_cast<double>(d.residual[static_cast<size_t>(row * c.n + column)]);
      d.expected.push_back(y), d.magnitude.push_back(magnitude + std::abs(y));
    }
  return d;
}

std::vector<std::vector<std::byte>> run_row(const Kernel& row, const LinearCase& c, const LinearData& data, int times) {
  const Problem problem = problem_of(c);
  const auto x = stored(data.x, c.k, c.x_gap, c.x), w = stored(data.w, c.k, 0, c.w);
  const auto bias = stored(data.bias, 1, 0, c.extra), residual = stored(data.residual, c.n, c.x_gap, c.extra);
  std::vector<const void*> inputs = {x.data(), w.data()};
  if (c.bias) inputs.push_back(bias.data());
  if (c.residual) inputs.push_back(residual.data());
  if (!data.scale.empty()) inputs.push_back(data.scale.data());
  if (!data.x_scale.empty()) inputs.push_back(data.x_scale.data());
  std::vector<std::byte> output(problem.output.shape.product() * size_of(c.out) + 64, std::byte{0xab});
  const Bound bound = cpu::bind(row, problem, inputs, output.data());
  Team team(c.threads);
  std::atomic<Fault> fault{Fault::none};
  std::vector<std::vector<std::byte>> results;
  for (int i = 0; i < times; ++i) {
    std::fill(output.begin(), output.end(), std::byte{0xab});
    bound.run(team, &fault);
    results.push_back(output);
  }
  return results;
}

double value_at(const std::vector<std::byte>& bytes, DType type, size_t i) {
  float value = 0;
  bf16 narrow;
  if (type == DType::f32) return std::memcpy(&value, bytes.data() + i * 4, 4), static_cast<double>(value);
  std::memcpy(&narrow, bytes.data() + i * 2, 2);
  return static_cast<double>(static_cast<float>(narrow));
}

std::string compare(const LinearCase& c, const LinearData& data, const std::vector<std::byte>& bytes, bool rounds_x) {
  // f32 sums: half an ulp of the running sum per term, growing like the square root of k, and 3e-7 for the activation.
  double relative = 6e-8 * (4 + (c.x == DType::i8 ? 0 : std::sqrt(static_cast<double>(c.k))));
  if (c.activation != Activation::none) relative += 6e-7;
  if (rounds_x && c.x == DType::f32) relative += 0x1.0p-8 / std::sqrt(static_cast<double>(c.k)) * 4;
  const double output_ulp = c.out == DType::bf16 ? 0x1.0p-8 : 0x1.0p-23;
  const double coarse = c.out == DType::bf16 && c.activation != Activation::none ? 8e-5 : 0;
  for (size_t i = 0; i < data.expected.size(); ++i) {
    const double got = value_at(bytes, c.out, i), want = data.expected[i];
    const double allowed = (relative + coarse) * data.magnitude[i] + output_ulp * std::abs(want);
    if (!(std::abs(got - want) <= allowed))
      return fmt::format("{}: element {} is {}, wanted {} +- {}", c.text(), i, got, want, allowed);
  }
  for (size_t i = data.expected.size() * size_of(c.out); i < bytes.size(); ++i)
    if (bytes[i] != std::byte{0xab}) return fmt::format("{}: byte {} beyond the output was written", c.text(), i);
  return {};
}

}  // namespace rung::cpu

namespace rung::gpu {

Problem layer(int64_t m, int64_t n, int64_t k, bool gated) {
  cpu::LinearCase c{.m = m, .n = n, .k = k, .x = DType::bf16, .w = DType::bf16, .out = DType::bf16};
  c.gated = gated;
  if (gated) c.activation = Activation::gelu_tanh;
  Problem made = cpu::problem_of(c);
  made.inputs[1].constant = true;
  return made;
}

Problem rotated(Problem plain, int64_t heads, int64_t width) {
  auto& op = std::get<Linear>(plain.op);
  op.epilogue.rotated_heads = heads;
  const Shape angles{plain.output.rows(), width};
  for (LinearSlot slot : {LinearSlot::cos, LinearSlot::sin})
    op.slots.put(plain.inputs, slot, Operand{DType::bf16, angles, contiguous_strides(angles)});
  return plain;
}

}  // namespace rung::gpu

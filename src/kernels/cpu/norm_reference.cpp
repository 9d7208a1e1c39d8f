// Reference rows of the normalisations over the last axis: layer_norm, rms_norm, l2_normalize. Statistics in f32.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/lanes.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

// One operand as f32 values.
struct Values {
  const void* base;
  DType dtype;
  int64_t step;
  float at(int64_t offset, int64_t i) const { return load_f32(base, dtype, offset + i * step); }
};

Values last_axis(const Call& call, size_t i) {
  const Operand& x = call.problem.inputs[i];
  return {call.inputs[i], x.dtype, x.strides.back()};
}

void run_layer_norm(const Call& call) {
  const Problem& p = call.problem;
  const auto& op = p.as<LayerNorm>();
  size_t first_vector = op.has_residual ? 2 : 1;
  const Operand& x = p.inputs[0];
  int64_t d = x.shape.back();
  Values xs = last_axis(call, 0), rs = last_axis(call, op.has_residual ? 1 : 0);
  Values weight = last_axis(call, first_vector), bias = last_axis(call, first_vector + 1);
  Shape outer = x.shape;
  outer[outer.rank() - 1] = 1;
  Range mine = share(outer.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<2> walk(outer, {x.strides, p.inputs[op.has_residual ? 1 : 0].strides}, mine.begin);
  for (int64_t row = mine.begin; row < mine.end; ++row, walk.next()) {
    auto value = [&](int64_t i) { return xs.at(walk[0], i) + (op.has_residual ? rs.at(walk[1], i) : 0.0f); };
    float mean = 0, variance = 0;
    for (int64_t i = 0; i < d; ++i) mean += value(i);
    mean /= static_cast<float>(d);
    for (int64_t i = 0; i < d; ++i) variance += (value(i) - mean) * (value(i) - mean);
    float scale = 1.0f / std::sqrt(variance / static_cast<float>(d) + op.eps);
    for (int64_t i = 0; i < d; ++i)
      store_f32(call.output, p.output.dtype, row * d + i, (value(i) - mean) * scale * weight.at(0, i) + bias.at(0, i));
  }
}

float sum_of_squares(const Values& x, int64_t offset, int64_t d) {
  float sum = 0;
  for (int64_t i = 0; i < d; ++i) sum += x.at(offset, i) * x.at(offset, i);
  return sum;
}

void run_rms_norm(const Call& call) {
  const Problem& p = call.problem;
  const auto& op = p.as<RmsNorm>();
  const Operand& x = p.inputs[0];
  int64_t d = x.shape.back();
  Values xs = last_axis(call, 0), weight = last_axis(call, 1);
  lanes_of(x, x.shape.rank() - 1, p.output.shape).each(call, [&](int64_t from, int64_t to) {
    float scale = 1.0f / std::sqrt(sum_of_squares(xs, from, d) / static_cast<float>(d) + op.eps);
    for (int64_t i = 0; i < d; ++i)
      store_f32(call.output, p.output.dtype, to + i, xs.at(from, i) * scale * (op.weight_offset + weight.at(0, i)));
  });
}

void run_l2_normalize(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  int64_t d = x.shape.back();
  Values xs = last_axis(call, 0);
  lanes_of(x, x.shape.rank() - 1, p.output.shape).each(call, [&](int64_t from, int64_t to) {
    float norm = std::max(std::sqrt(sum_of_squares(xs, from, d)), p.as<L2Normalize>().eps);
    for (int64_t i = 0; i < d; ++i) store_f32(call.output, p.output.dtype, to + i, xs.at(from, i) / norm);
  });
}

}  // namespace

extern const Kernel layer_norm_reference{.name = "layer_norm_reference",
                                         .op = "layer_norm",
                                         .supports = supports,
                                         .run = run_layer_norm,
                                         .role = Role::fallback};
extern const Kernel rms_norm_reference{
    .name = "rms_norm_reference", .op = "rms_norm", .supports = supports, .run = run_rms_norm, .role = Role::fallback};
extern const Kernel l2_normalize_reference{.name = "l2_normalize_reference",
                                           .op = "l2_normalize",
                                           .supports = supports,
                                           .run = run_l2_normalize,
                                           .role = Role::fallback};

}  // namespace rung::cpu

// Reference row of conv2d: one sum of products per output element.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

// The window's sum for the output element whose corner in x and whose filter in w start at these offsets.
float window(const Call& call, int64_t x_offset, int64_t w_offset) {
  const Operand &x = call.problem.inputs[0], &w = call.problem.inputs[1];
  float sum = 0;
  for (int64_t c = 0; c < w.shape[1]; ++c)
    for (int64_t i = 0; i < w.shape[2]; ++i)
      for (int64_t j = 0; j < w.shape[3]; ++j)
        sum += load_f32(call.inputs[0], x.dtype, x_offset + c * x.strides[1] + i * x.strides[2] + j * x.strides[3]) *
               load_f32(call.inputs[1], w.dtype, w_offset + c * w.strides[1] + i * w.strides[2] + j * w.strides[3]);
  return sum;
}

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand &x = p.inputs[0], &w = p.inputs[1], &bias = p.inputs[2];
  int64_t stride = p.as<Conv2d>().stride;
  Strides x_corner{x.strides[0], 0, x.strides[2] * stride, x.strides[3] * stride};
  Range mine = share(p.output.shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<3> walk(p.output.shape, {x_corner, {0, w.strides[0], 0, 0}, {0, bias.strides[0], 0, 0}}, mine.begin);
  for (int64_t i = mine.begin; i < mine.end; ++i, walk.next())
    store_f32(call.output, p.output.dtype, i,
              window(call, walk[0], walk[1]) + load_f32(call.inputs[2], bias.dtype, walk[2]));
}

}  // namespace

extern const Kernel conv2d_reference{
    .name = "conv2d_reference", .op = "conv2d", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

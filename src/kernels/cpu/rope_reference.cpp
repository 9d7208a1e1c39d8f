// Reference row of rope: x*cos + rotate_half(x)*sin.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand &x = p.inputs[0], &cos = p.inputs[1], &sin = p.inputs[2];
  const Shape& shape = p.output.shape;
  int64_t d = shape.back(), step = x.strides.back();
  Range mine = share(shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<3> walk(shape, {x.strides, broadcast_strides(cos, shape), broadcast_strides(sin, shape)}, mine.begin);
  for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) {
    bool lower = i % d < d / 2;
    float partner = load_f32(call.inputs[0], x.dtype, walk[0] + (lower ? d / 2 : -d / 2) * step);
    float rotated = lower ? -partner : partner;
    store_f32(call.output, p.output.dtype, i,
              load_f32(call.inputs[0], x.dtype, walk[0]) * load_f32(call.inputs[1], cos.dtype, walk[1]) +
                  rotated * load_f32(call.inputs[2], sin.dtype, walk[2]));
  }
}

}  // namespace

extern const Kernel rope_reference{
    .name = "rope_reference", .op = "rope", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

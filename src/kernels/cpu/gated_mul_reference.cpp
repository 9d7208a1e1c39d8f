// Reference row of gated_mul: activation(gate) * up.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/scalar_math.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  DType dtype = p.output.dtype;
  Range mine = share(p.output.shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<2> walk(p.output.shape, {p.inputs[0].strides, p.inputs[1].strides}, mine.begin);
  for (int64_t i = mine.begin; i < mine.end; ++i, walk.next())
    store_f32(call.output, dtype, i,
              scalar(p.as<GatedMul>().activation, load_f32(call.inputs[0], dtype, walk[0])) *
                  load_f32(call.inputs[1], dtype, walk[1]));
}

}  // namespace

extern const Kernel gated_mul_reference{
    .name = "gated_mul_reference", .op = "gated_mul", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

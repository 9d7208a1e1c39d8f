// Reference row of masked_mean: the mean over the tokens whose mask is set.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand &x = p.inputs[0], &mask = p.inputs[1];
  int64_t tokens = x.shape[1], d = x.shape[2];
  Range mine = share(x.shape[0] * d, call.thread, p.threads);
  for (int64_t i = mine.begin; i < mine.end; ++i) {
    float sum = 0, weight = 0;
    for (int64_t s = 0; s < tokens; ++s) {
      float m = call.in<float>(1)[i / d * mask.strides[0] + s * mask.strides[1]];
      sum += m * load_f32(call.inputs[0], x.dtype, i / d * x.strides[0] + s * x.strides[1] + i % d * x.strides[2]);
      weight += m;
    }
    store_f32(call.output, p.output.dtype, i, sum / std::max(weight, p.as<MaskedMean>().eps));
  }
}

}  // namespace

extern const Kernel masked_mean_reference{
    .name = "masked_mean_reference", .op = "masked_mean", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

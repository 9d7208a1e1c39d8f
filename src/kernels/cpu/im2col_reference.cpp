// Reference row of im2col: [B,C,H,W] to rows of patches.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  int64_t patch = p.as<Im2col>().patch;
  const Strides& s = x.strides;
  // The result seen as [B, rows of patches, patches in a row, C, patch, patch].
  Shape shape{x.shape[0], x.shape[2] / patch, x.shape[3] / patch, x.shape[1], patch, patch};
  Strides strides{s[0], s[2] * patch, s[3] * patch, s[1], s[2], s[3]};
  Range mine = share(shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<1> walk(shape, {strides}, mine.begin);
  with_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) call.out<T>()[i] = call.in<T>(0)[walk[0]];
  });
}

}  // namespace

extern const Kernel im2col_reference{
    .name = "im2col_reference", .op = "im2col", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

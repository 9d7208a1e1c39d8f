// Reference row of concat along any axis.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/lanes.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  int axis = axis_of(p.as<Concat>().axis, p.output.shape);
  Strides out = contiguous_strides(p.output.shape);
  int64_t begin = 0;  // along the axis
  for (size_t operand = 0; operand < p.inputs.size(); ++operand) {
    const Operand& x = p.inputs[operand];
    Range mine = share(x.shape.product(), call.thread, p.threads);
    if (mine.begin < mine.end)
      with_type(x.dtype, [&](auto tag) {
        using T = decltype(tag);
        Walk<2> walk(x.shape, {x.strides, out}, mine.begin);
        for (int64_t i = mine.begin; i < mine.end; ++i, walk.next())
          call.out<T>()[begin * out[axis] + walk[1]] = call.in<T>(operand)[walk[0]];
      });
    begin += x.shape[axis];
  }
}

}  // namespace

extern const Kernel concat_reference{
    .name = "concat_reference", .op = "concat", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

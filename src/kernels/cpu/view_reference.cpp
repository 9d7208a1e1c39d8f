// Reference rows that materialise a view (reshape, transpose, slice, broadcast): element by element into a dense
// output.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  bool reshape = as<Reshape>(p.op) != nullptr;
  const Shape& shape = reshape ? x.shape : p.output.shape;
  View view = reshape ? View{x.strides, 0} : view_of(p.op, x, shape);
  Range mine = share(shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<1> walk(shape, {view.strides}, mine.begin);
  with_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = mine.begin; i < mine.end; ++i, walk.next())
      call.out<T>()[i] = call.in<T>(0)[view.offset + walk[0]];
  });
}

}  // namespace

extern const Kernel reshape_reference{
    .name = "reshape_reference", .op = "reshape", .supports = supports, .run = run, .role = Role::fallback};
extern const Kernel transpose_reference{
    .name = "transpose_reference", .op = "transpose", .supports = supports, .run = run, .role = Role::fallback};
extern const Kernel slice_reference{
    .name = "slice_reference", .op = "slice", .supports = supports, .run = run, .role = Role::fallback};
extern const Kernel broadcast_reference{
    .name = "broadcast_reference", .op = "broadcast", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

// Reference row of gather along any axis; an index out of range is reported and its elements read as zero.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/lanes.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

// Strides of x and of the indices over the result, whose axes are x's before `axis`, the indices', then x's after it.
struct Sources {
  Strides x, indices;
};

Sources sources(const Problem& p, int axis) {
  const Operand &x = p.inputs[0], &indices = p.inputs[1];
  Sources s{Strides::filled(p.output.shape.rank(), 0), Strides::filled(p.output.shape.rank(), 0)};
  int inserted = indices.shape.rank();
  for (int i = 0; i < x.shape.rank(); ++i)
    if (i != axis) s.x[i < axis ? i : i - 1 + inserted] = x.strides[i];
  for (int i = 0; i < inserted; ++i) s.indices[axis + i] = indices.strides[i];
  return s;
}

void run(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  int axis = axis_of(p.as<Gather>().axis, x.shape);
  Sources from = sources(p, axis);
  Range mine = share(p.output.shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<2> walk(p.output.shape, {from.x, from.indices}, mine.begin);
  with_type(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) {
      int64_t index = load_i64(call.inputs[1], p.inputs[1].dtype, walk[1]);
      bool valid = index >= 0 && index < x.shape[axis];
      if (!valid) call.fault->store(Fault::index_out_of_range, std::memory_order_relaxed);
      call.out<T>()[i] = valid ? call.in<T>(0)[walk[0] + index * x.strides[axis]] : T{};
    }
  });
}

}  // namespace

extern const Kernel gather_reference{
    .name = "gather_reference", .op = "gather", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

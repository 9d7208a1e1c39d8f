// Reference rows of reduce and cumsum along any axis; integers sum in i64.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/lanes.hpp"
#include "kernels/cpu/scalar_math.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

template <class T, class Load>
T reduce(ReduceKind kind, int64_t count, Load&& value) {
  if (kind == ReduceKind::max) {
    T largest = value(0);
    for (int64_t i = 1; i < count; ++i) largest = larger(largest, value(i));
    return largest;
  }
  T sum{};
  for (int64_t i = 0; i < count; ++i) sum += value(i);
  return kind == ReduceKind::mean ? sum / static_cast<T>(count) : sum;
}

void run_reduce(const Call& call) {
  const Problem& p = call.problem;
  const auto& op = p.as<Reduce>();
  const Operand& x = p.inputs[0];
  int axis = axis_of(op.axis, x.shape);
  int64_t count = x.shape[axis], step = x.strides[axis];
  Shape kept = x.shape;
  kept[axis] = 1;
  lanes_of(x, axis, kept).each(call, [&](int64_t from, int64_t to) {
    if (is_float(x.dtype))
      store_f32(call.output, p.output.dtype, to, reduce<float>(op.kind, count, [&](int64_t i) {
                  return load_f32(call.inputs[0], x.dtype, from + i * step);
                }));
    else
      store_i64(call.output, p.output.dtype, to, reduce<int64_t>(op.kind, count, [&](int64_t i) {
                  return load_i64(call.inputs[0], x.dtype, from + i * step);
                }));
  });
}

void run_cumsum(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  int axis = axis_of(p.as<CumSum>().axis, x.shape);
  Lanes lanes = lanes_of(x, axis, x.shape);
  int64_t count = x.shape[axis], x_step = x.strides[axis], y_step = lanes.y[axis];
  lanes.each(call, [&](int64_t from, int64_t to) {
    float sum = 0;
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (is_float(x.dtype))
        store_f32(call.output, p.output.dtype, to + i * y_step,
                  sum += load_f32(call.inputs[0], x.dtype, from + i * x_step));
      else
        store_i64(call.output, p.output.dtype, to + i * y_step,
                  total += load_i64(call.inputs[0], x.dtype, from + i * x_step));
    }
  });
}

}  // namespace

extern const Kernel reduce_reference{
    .name = "reduce_reference", .op = "reduce", .supports = supports, .run = run_reduce, .role = Role::fallback};
extern const Kernel cumsum_reference{
    .name = "cumsum_reference", .op = "cumsum", .supports = supports, .run = run_cumsum, .role = Role::fallback};

}  // namespace rung::cpu

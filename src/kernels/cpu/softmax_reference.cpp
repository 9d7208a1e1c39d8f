// Reference row of softmax: any axis, any strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/lanes.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem&, const Machine&) { return accept(); }

void run(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  int axis = axis_of(call.problem.as<Softmax>().axis, x.shape);
  Lanes lanes = lanes_of(x, axis, x.shape);
  int64_t count = x.shape[axis], x_step = x.strides[axis], y_step = lanes.y[axis];
  lanes.each(call, [&](int64_t from, int64_t to) {
    auto value = [&](int64_t i) { return load_f32(call.inputs[0], x.dtype, from + i * x_step); };
    float largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, value(i));
    for (int64_t i = 0; i < count; ++i) sum += std::exp(value(i) - largest);
    for (int64_t i = 0; i < count; ++i)
      store_f32(call.output, x.dtype, to + i * y_step, std::exp(value(i) - largest) / sum);
  });
}

}  // namespace

extern const Kernel softmax_reference{
    .name = "softmax_reference", .op = "softmax", .supports = supports, .run = run, .role = Role::fallback};

}  // namespace rung::cpu

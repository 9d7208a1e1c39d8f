// The row of pool.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/make_windows.hpp"
#include "kernels/gpu/windows/pool_arguments.hpp"

namespace rung::gpu {
namespace {

Window window_at(const Problem& p, int axis) { return window_of(p.as<Pool>(), p.inputs[0].shape, axis); }

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  for (int axis = 0; axis < p.output.shape.rank() - 2; ++axis)
    if (auto verdict = supports_window(window_at(p, axis)); !verdict) return verdict;
  return supports_count(p.output.shape);
}

// Returns whether threads can read eight neighbouring channels at a time.
bool has_vectors(const PoolArguments& a, int64_t images) {
  constexpr int64_t kVector = 8;
  constexpr Address kAlignment = 16;
  if (a.places || a.x_channel != 1 || a.channels % kVector || a.x % kAlignment || a.out % kAlignment) return false;
  for (const WindowAxis& axis : a.axes)
    if (axis.extent != 1 && axis.x_stride % kVector) return false;
  return images == 1 || a.x_batch % kVector == 0;
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Pool& op = p.as<Pool>();
  const Operand& x = p.inputs[0];
  const Shape& y = p.output.shape;
  if (y.product() == 0) return {};
  PoolArguments a{.x = call.inputs[0], .out = call.output};
  if (op.places) a.places = call.output + results_of(p)[1].offset;
  const int axes = x.shape.rank() - 2;
  for (int i = 0; i < kWindowAxes; ++i) a.axes[i] = axis_of(Window{}, 0, 0);
  for (int axis = 0; axis < axes; ++axis)
    a.axes[kWindowAxes - axes + axis] = axis_of(window_at(p, axis), x.strides[axis + 1], 0);
  a.x_batch = x.strides[0], a.x_channel = x.strides[axes + 1];
  a.channels = static_cast<uint32_t>(y.back()), a.count = static_cast<uint32_t>(y.product());
  a.kind = op.kind, a.x_type = x.dtype, a.out_type = p.output.dtype;
  if (has_vectors(a, x.shape[0]))
    return call.launch("pool", "pool_vectors", launch_threads(call, a.count / 8, kPoolThreads), a);
  return call.launch("pool", "pool_windows", launch_threads(call, a.count, kPoolThreads), a);
}

}  // namespace

extern const Kernel pool_gpu{.name = "pool_gpu", .op = "pool", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

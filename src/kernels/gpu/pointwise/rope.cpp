// The row of the rotary embedding.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/pointwise/rope_arguments.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kRun = 8;

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_computed_float); !verdict) return verdict;
  return supports_count(p.output.shape);
}

using Operands = std::array<Strides, 4>;  // of x, cos, sin and out, broadcast to the result's shape

Operands operands_of(const Problem& p) {
  const Shape& shape = p.output.shape;
  return {broadcast_strides(p.inputs[0], shape), broadcast_strides(p.inputs[1], shape),
          broadcast_strides(p.inputs[2], shape), p.output.strides};
}

// Returns whether runs of eight columns are aligned wherever they are dense.
bool aligned_runs(const RopeArguments& a, const Operands& operands, int64_t half) {
  if (half % kRun) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (a.step[i] != 1) continue;
    if (a.base[i] % 16) return false;
    for (int axis = 0; axis + 1 < operands[i].rank(); ++axis)
      if (operands[i][axis] * static_cast<int64_t>(size_of(a.type[i])) % 16) return false;
  }
  return true;
}

// Returns loops over the axes before the last, then over runs of the lower half.
Loops loops_of(const Shape& result, const Operands& operands, int64_t run) {
  Shape shape = result;
  Operands strides = operands;
  int last = shape.rank() - 1;
  shape[last] = shape[last] / 2 / run;
  for (Strides& s : strides) s[last] *= run;
  return collapse(shape, strides);
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  Operands operands = operands_of(p);
  int64_t half = p.output.shape.back() / 2;
  RopeArguments a{};
  for (size_t i = 0; i < operands.size(); ++i) {
    a.base[i] = i < 3 ? call.inputs[i] : call.output;
    a.type[i] = i < 3 ? p.inputs[i].dtype : p.output.dtype;
    a.step[i] = operands[i].back(), a.partner[i] = half * a.step[i];
  }
  bool vectors = aligned_runs(a, operands, half);
  a.nest = make_nest<4>(loops_of(p.output.shape, operands, vectors ? kRun : 1));
  return call.launch("rope", vectors ? "rope_vector" : "rope", launch_threads(call, a.nest.count, 128), a);
}

}  // namespace

extern const Kernel rope_gpu{.name = "rope_gpu", .op = "rope", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

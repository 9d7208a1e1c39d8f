// The row of gather.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "kernels/gpu/copy/gather_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

// The variants by the bytes that a thread moves.
constexpr Variant<int64_t> kVariants[] = {
#include "kernels/gpu/copy/gather.inc"
};

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  return supports_count(p.output.shape);
}

// Returns the loops over the result's axes: x's before `axis`, then the indices', then x's after `axis`.
Loops loops_of(const Problem& p, int axis) {
  const Operand &x = p.inputs[0], &indices = p.inputs[1];
  Strides of_x, of_indices;
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (i != axis) {
      of_x.push_back(x.strides[i]), of_indices.push_back(0);
      continue;
    }
    for (int64_t stride : indices.strides) of_x.push_back(0), of_indices.push_back(stride);
  }
  return collapse(p.output.shape, std::array{of_x, of_indices, p.output.strides});
}

// Returns the widest unit, in bytes, that divides runs of x and the result.
int64_t widest_unit(const Call& call, const Loops& loops, int64_t index_step) {
  auto bytes = static_cast<int64_t>(size_of(call.problem.output.dtype));
  if (loops.inner_strides[0] != 1 || loops.inner_strides[1] != 0) return bytes;
  auto addresses = static_cast<int64_t>(call.inputs[0] | call.output);
  int64_t unit = std::gcd(std::gcd(int64_t{16}, loops.inner * bytes), std::gcd(addresses, index_step * bytes));
  for (int axis = 0; axis < loops.rank; ++axis) unit = std::gcd(unit, loops.strides[axis][0] * bytes);
  return unit;
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  RUNG_TRY(int axis, normalize_axis(p.as<Gather>().axis, p.inputs[0].shape.rank()));
  Loops loops = loops_of(p, axis);
  int64_t index_step = p.inputs[0].strides[axis], bytes = static_cast<int64_t>(size_of(p.output.dtype));
  int64_t unit = widest_unit(call, loops, index_step), run = unit / bytes;
  loops.operands = 2;  // the result is dense
  GatherArguments a{call.inputs[0], call.inputs[1], call.output, call.fault, make_nest<2>(loops, run)};
  for (int64_t& stride : a.nest.stride[0]) stride /= run;
  a.index_step = index_step / run, a.length = p.inputs[0].shape[axis], a.index_type = p.inputs[1].dtype;
  return call.launch("gather", symbol_of(kVariants, unit), launch_threads(call, a.nest.count, 256), a);
}

}  // namespace

extern const Kernel gather_gpu{.name = "gather_gpu", .op = "gather", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu

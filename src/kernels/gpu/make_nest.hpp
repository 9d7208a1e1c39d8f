// Helpers with which rows make nests and launch shapes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "kernels/collapse.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// Makes a nest of loops whose inner axis is cut into runs of `run` elements: a position is a run, strides are elements.
template <int kOperands>
Nest<kOperands> make_nest(const Loops& loops, int64_t run = 1) {
  Nest<kOperands> nest;
  auto add = [&](int64_t size, const int64_t* strides, int64_t scale) {
    if (size == 1) return;
    for (int i = 0; i < loops.operands; ++i) nest.stride[i][nest.rank] = strides[i] * scale;
    nest.size[nest.rank++] = Divisor(static_cast<uint32_t>(size));
  };
  add(loops.inner / run, loops.inner_strides, run);
  for (int axis = loops.rank - 1; axis >= 0; --axis) add(loops.shape[axis], loops.strides[axis], 1);
  nest.count = static_cast<uint32_t>(loops.outer * (loops.inner / run));
  return nest;
}

// Accepts shapes whose axes a Divisor can divide by and whose positions a 31-bit index counts.
inline Verdict supports_count(const Shape& shape) {
  return shape.product() < int64_t{1} << 31 ? accept() : reject("2^31 elements or more");
}

// Returns a launch with enough blocks of `threads` threads for `count` threads.
inline Launch launch_threads(const Call& call, int64_t count, uint32_t threads) {
  return {.grid = {static_cast<uint32_t>((count + threads - 1) / threads)},
          .block = {threads},
          .dependent = call.gpu.info().dependent_launch};
}

// Returns whether the type is not a reserved one.
inline bool is_known(DType d) { return is_computed_float(d) || !is_float(d); }
// Accepts operands and a result whose types are all `known`.
inline Verdict supports_types(const Problem& problem, bool (*known)(DType)) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (!known(problem.inputs[i].dtype))
      return reject(fmt::format("operand {} is {}", i, name_of(problem.inputs[i].dtype)));
  return known(problem.output.dtype) ? accept() : reject(fmt::format("result is {}", name_of(problem.output.dtype)));
}

}  // namespace rung::gpu

// The arguments of reduce, cumsum and masked_mean, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

constexpr uint32_t kReduceThreads = 256;  // of a block, at most

enum class ReduceCode : uint8_t { sum, mean, max, masked_mean };

// along: a block's threads share a line; neighbours: they share kReduceNeighbours lines; across: lanes take lines;
// running: sums up to each element.
enum class ReduceWay : uint8_t { along, neighbours, across, running };

constexpr int64_t kReduceNeighbours = 8;

// A variant of the kernel.
struct ReduceConfig {
  ReduceWay way;
  DType type;  // of the additions: f32, or i64 for all integers
  bool operator==(const ReduceConfig&) const = default;
};

// A line has the elements of one result: `length` elements, `step` apart.
struct ReduceArguments {
  uint64_t x, mask, out;
  Nest<3> lines;                      // locates each line in x, mask and out, or the first of neighbours
  int64_t step, mask_step, out_step;  // out_step: only for cumsum
  uint32_t length;
  float eps;
  DType type, out_type;
  ReduceCode code;
};

}  // namespace rung::gpu

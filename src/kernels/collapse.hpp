// A nest of loops over several strided operands, with neighbouring axes merged wherever all operands allow it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "ir/shape.hpp"

namespace rung {

inline constexpr int kMaxLoopOperands = 17;

// The loops in plain numbers, for kernels compiled for an instruction set: `rank` outer axes, then one inner axis.
struct Loops {
  int operands = 0, rank = 0;  // rank counts the outer axes
  int64_t shape[Dims::kMaxRank] = {};
  int64_t strides[Dims::kMaxRank][kMaxLoopOperands] = {};
  int64_t inner = 1, inner_strides[kMaxLoopOperands] = {};
  int64_t outer = 1;  // product of the outer axes
};

// Merges axes into loops; all strides have the rank of `shape`.
Loops collapse(const Shape& shape, std::span<const Strides> strides);
// Computes the element offsets of the operands at a position of the outer axes.
void outer_offsets(const Loops& loops, int64_t position, int64_t* offsets);
// Merges axes, too, but makes the inner axis one more outer axis; the inner axis then has a single element.
Loops collapse_outer(const Shape& shape, std::span<const Strides> strides);

}  // namespace rung

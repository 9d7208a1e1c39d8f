// The arguments of top_k, on host and device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

constexpr uint32_t kTopKThreads = 256;  // of a block

struct TopKArguments {
  uint64_t x, values, places;  // results are dense: rows of k
  int64_t x_row;               // elements from row to row, in which neighbours are neighbours
  uint32_t width, k;
};

}  // namespace rung::gpu

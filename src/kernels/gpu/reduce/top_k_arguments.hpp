// The arguments of top_k, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

constexpr uint32_t kTopKThreads = 256;  // of a block

struct TopKArguments {
  uint64_t x, values, places;  // results are dense: rows of k
  int64_t x_row;               // elements from row to row; a row is dense
  uint32_t width, k;
  DType type;  // of x
};

}  // namespace rung::gpu

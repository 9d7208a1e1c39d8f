// The arguments of scatter, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/fault.hpp"
#include "ir/formulas.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

constexpr uint32_t kScatterThreads = 128;

// x, updates and out are dense rows of `width` elements. Row r is of owner r & (owners - 1), whose threads alone write
// it, one for each column.
struct ScatterArguments {
  uint64_t x, indices, updates, out, fault;  // addresses
  int64_t index_step, rows;                  // index_step: elements from index to index
  uint32_t count, owners;                    // count: of indices; owners: a power of two
  Divisor width;
  DType type, index_type;
  ScatterKind kind;
};

}  // namespace rung::gpu

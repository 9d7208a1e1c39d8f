// The arguments of the kernels recurrence, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/cell.hpp"
#include "ir/dtype.hpp"

namespace rung::gpu {

constexpr uint32_t kRecurrenceThreads = 256;  // of a block

// A variant of the kernel.
struct RecurrenceConfig {
  CellKind cell;
  DType type;  // of all operands and results
  bool operator==(const RecurrenceConfig&) const = default;
};

// One step, as op.hpp defines it: a warp computes one number of the state of one row of the batch. States are f32
// between steps; the first step reads those that the caller gave, in the variant's type.
struct RecurrenceArguments {
  const void* x;             // the step's gates: gate g of row b begins at b * x_row + g * hidden
  const void* w;             // [gates hidden, hidden], dense
  const void* bias;          // [hidden], of a gru alone
  const void *h, *c;         // [batch, hidden], before the step; c of a lstm alone
  float *h_after, *c_after;  // [batch, hidden]; c_after may be c
  void *out, *last_c;        // [batch, hidden]; last_c of a lstm's last step alone
  int64_t x_row;
  uint32_t states, hidden;  // numbers of all states, and of one row's
  bool first;
};

}  // namespace rung::gpu

// The arguments of the vectorised recurrences, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/cell.hpp"
#include "ir/dtype.hpp"

namespace rung::cpu {

// One step of a run of blocks of a state's numbers, as many as a vector has lanes in each, for all rows of a batch.
struct RecurrenceStep {
  CellKind cell;
  DType type;  // of x, bias and out
  int64_t batch, hidden;
  int64_t first_block, blocks;
  const float* w;  // blocks: for each number of the state before, a vector of each gate
  const void *x, *bias;
  int64_t x_row, x_gate;  // elements from row to row and from gate to gate
  const float* before;    // [batch, hidden]: the state before
  float *after, *c;       // [batch, hidden]
  void* out;              // [batch, hidden]
  void* last_c;           // [batch, hidden], in the step that is a lstm's last; else null
};

namespace avx2 {
inline constexpr int64_t kRecurrenceLanes = 8;
void recurrence_step(const RecurrenceStep& step);
}  // namespace avx2
namespace avx512 {
inline constexpr int64_t kRecurrenceLanes = 16;
void recurrence_step(const RecurrenceStep& step);
}  // namespace avx512

}  // namespace rung::cpu

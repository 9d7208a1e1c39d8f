// A region in the form that the vectorised interpreter runs: sweeps over rows, in blocks of f32 in numbered slots.
// Short rows are taken several at once, one behind another in a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/row_kind.hpp"
#include "kernels/cpu/pointwise/pointwise.hpp"

namespace rung::cpu {

inline constexpr int kMaxRegionSlots = 96, kMaxRegionActions = 192, kMaxRegionSweeps = 8, kMaxRegionResults = 8;

// The place of a slot's values: in memory of its own, which holds a block or a whole row, or in an operand or a result
// of f32, which are read and written where they are. Values of rows stand one behind another, and are spread over the
// elements of their rows where elements are computed from them.
enum class RegionMemory : uint8_t { block, row, operand, result };
struct RegionSlot {
  RegionMemory memory;
  uint8_t index;   // of the operand or result
  int64_t offset;  // in floats, into the thread's scratch
};

// In a sweep's blocks: reads values of an operand into a slot, takes a step, adds a slot's values to a reduction, scans
// them into a slot, writes a slot's values to a result. Behind them the same with a value for each row, the end of a
// reduction, and spreading.
enum class RegionDo : uint8_t { read, step, reduce, scan, write, spread };
struct RegionAction {
  RegionDo what;
  RowKind kind;   // of a scan sum or product
  uint8_t index;  // of the operand, the reduction, the scan or the result
  PointwiseStep step;
};

// Actions of sweep i: blocks first[i] to row[i], the row behind them up to first[i + 1]; before first[0] stand those of
// the row that need no sweep. A sweep has at most kMaxRegionReductions reductions and
// scans.
inline constexpr int kMaxRegionReductions = 8;
struct RegionPlan {
  Loops loops;  // from row to row of the operands; results are dense
  int64_t rows, width, thread_floats;
  int64_t batch;                        // the most rows that are taken at once
  bool flat;                            // there are no values of rows: a row is all of the inner axis of the loops
  int64_t stride[kMaxPointwiseInputs];  // along the row
  int inputs, registers, literals, results, slots, sweeps;
  DType input[kMaxPointwiseInputs], result[kMaxRegionResults];
  int64_t step[kMaxRegionResults];    // elements from row to row of a result: the width, or 1
  int64_t offset[kMaxRegionResults];  // of a result, in bytes
  float literal[kMaxRegionSlots];     // of the slots behind the operands
  RegionSlot slot[kMaxRegionSlots];
  RegionAction action[kMaxRegionActions];
  int first[kMaxRegionSweeps + 1], row[kMaxRegionSweeps];
};

struct RegionWork {
  const RegionPlan* plan;
  const void* const* inputs;
  void* out;
  float* scratch;
  int64_t begin, end;  // rows
};

namespace avx2 {
void region(const RegionWork& work);
}
namespace avx512 {
void region(const RegionWork& work);
}

}  // namespace rung::cpu

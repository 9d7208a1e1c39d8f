// The memory that a kernel row reads and writes, derived from the problem alone. Every row keeps to it: it reads the
// elements that an operand's strides reach, or the block that its pack() made of a constant; it writes the dense
// results, operands that the op updates, and scratch_bytes() bytes of scratch. A checker compares these sizes with the
// memory that exists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

// The most bytes of an operand, with repeated elements (stride 0) counted each time, and of the range that its strides
// reach: below it, no product of sizes, strides and threads overflows.
inline constexpr uint64_t kMostOperandBytes = uint64_t{1} << 40;
// The most operations of a step, more than a second of any machine; it limits the time that a row may run.
inline constexpr double kMostStepFlops = 1e15;

struct Access {
  uint64_t bytes = 0;      // from the operand's first element to past its last
  uint64_t alignment = 1;  // of the first element's address, in bytes
  bool packed = false;     // a whole weight in the row's own layout, of exactly `bytes` bytes
};

// Returns the access to a dense or strided operand. Errors: no elements (rows divide by sizes);
// strides that are negative, out of range or of another rank; more bytes than kMostOperandBytes.
Result<Access> dense_access(const Operand& operand);
// Returns the access to operand `i` of a problem that the row supports, packed where the row packs it. Errors: as
// above; sizes that the row does not count in.
Result<Access> operand_access(const Kernel& kernel, const Problem& problem, const Machine& machine, size_t i);
// Checks the result; results_of() gives the places of results. Errors: it is not dense, or has more elements than the
// row counts.
Status check_result(const Kernel& kernel, const Problem& problem);

}  // namespace rung

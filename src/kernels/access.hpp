// The memory that a kernel row reads and writes, told from the problem alone. Every row keeps to it: of an operand it
// reads the elements that the strides reach, or the block that its pack() made of a constant; it writes the dense
// results, and as much scratch as scratch_bytes() says. A checker compares that with the memory there is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

// The most bytes of an operand, its repeated elements counted each time (stride 0), and of what its strides reach: no
// product of sizes, strides and threads overflows then.
inline constexpr uint64_t kMostOperandBytes = uint64_t{1} << 40;
// The most operations of a step: more than a second of any machine. It bounds how long a row may run.
inline constexpr double kMostStepFlops = 1e15;

struct Access {
  uint64_t bytes = 0;      // from the operand's first element to past its last
  uint64_t alignment = 1;  // bytes: where the first element must begin
  bool packed = false;     // in the row's own layout: exactly these bytes, the whole of a weight
};

// Errors: a reserved dtype; no elements (rows divide by sizes); strides that are negative, of another rank or out of
// range; sizes that the row does not count in.
Result<Access> dense_access(const Operand& operand);
// The same for operand `i` of a problem that the row supports, packed where the row packs it.
Result<Access> operand_access(const Kernel& kernel, const Problem& problem, const Machine& machine, size_t i);
// Where results go is for results_of() to say. Errors: a result that is not dense, or of more elements than the row
// counts.
Status check_result(const Kernel& kernel, const Problem& problem);

}  // namespace rung

// Computes the extents of operands through their strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/access.hpp"

#include <algorithm>
#include <optional>

#include "ir/checked_shape.hpp"

namespace rung {
namespace {

// GPU rows count positions of the result, and each axis, in 31 bits.
Status check_counts(const Kernel& kernel, const Operand& operand, bool positions) {
  if (!kernel.enqueue) return {};
  const bool long_axis =
      std::any_of(operand.shape.begin(), operand.shape.end(), [](int64_t n) { return n > INT32_MAX; });
  if (long_axis || (positions && operand.shape.product() > INT32_MAX))
    return fail("got {}, which a kernel of a GPU does not count in 31 bits", Type{operand.dtype, operand.shape});
  return {};
}

// Returns the elements from the first to past the last; nullopt if a stride is negative or out of range.
std::optional<uint64_t> reach_of(const Operand& operand) {
  uint64_t last = 0;
  for (int axis = 0; axis < operand.shape.rank(); ++axis) {
    const auto stride = static_cast<uint64_t>(operand.strides[axis]);  // a negative one is out of range
    uint64_t reach = 0;
    if (stride > kMostOperandBytes ||
        __builtin_mul_overflow(static_cast<uint64_t>(operand.shape[axis] - 1), stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > kMostOperandBytes)
      return std::nullopt;
  }
  return last + 1;
}

}  // namespace

Result<Access> dense_access(const Operand& operand) {
  const Type type{operand.dtype, operand.shape};
  if (operand.strides.rank() != operand.shape.rank())
    return fail("strides {} of {} differ in rank", operand.strides, operand.shape);
  if (!within_limits(operand.shape) || type.bytes() > kMostOperandBytes)
    return fail("got {}, wanted at most {} bytes", type, kMostOperandBytes);
  if (type.elements() == 0) return fail("got {}, wanted at least one element", type);
  auto reach = reach_of(operand);
  if (!reach) return fail("strides {} of {} are out of range", operand.strides, operand.shape);
  return Access{*reach * size_of(operand.dtype), size_of(operand.dtype), false};
}

Result<Access> operand_access(const Kernel& kernel, const Problem& problem, const Machine& machine, size_t i) {
  const Operand& operand = problem.inputs[i];
  RUNG_TRY(Access access, dense_access(operand));
  RUNG_CHECK(check_counts(kernel, operand, false));
  access.alignment = std::max(access.alignment, kernel.alignment);
  if (const size_t packed = kernel.packed_for(problem, machine, i)) access = {packed, access.alignment, true};
  return access;
}

Status check_result(const Kernel& kernel, const Problem& problem) {
  const Operand& result = problem.output;
  RUNG_CHECK(dense_access(result));
  if (!result.contiguous()) return fail("its result is not a dense {}", Type{result.dtype, result.shape});
  return check_counts(kernel, result, true);
}

}  // namespace rung

// The judge's computation of each op: one function per op struct; evaluate_results() dispatches to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ir/op.hpp"
#include "ir/tensor.hpp"

namespace rung::reference {

// The operands and the result type of an op, already checked against its type rule.
struct Arguments {
  std::span<const Tensor> operands;
  const Type& result;
  const Tensor& operator[](size_t i) const { return operands[i]; }
  size_t size() const { return operands.size(); }
};

// Declares one function per op, each defined in FAMILY.cpp; there is no default. It computes the op's first result.
#define RUNG_DECLARE_COMPUTE(Struct) Result<Tensor> compute(const Struct&, const Arguments&);
RUNG_EACH_OP(RUNG_DECLARE_COMPUTE)
#undef RUNG_DECLARE_COMPUTE

// Computes result number `i` > 0 of the ops that may have several (RUNG_RESULTS).
Result<Tensor> compute_further(const Linear&, const Arguments&, size_t i);
Result<Tensor> compute_further(const Quantize&, const Arguments&, size_t i);
Result<Tensor> compute_further(const TopK&, const Arguments&, size_t i);
Result<Tensor> compute_further(const Pool&, const Arguments&, size_t i);
Result<Tensor> compute_further(const Region&, const Arguments&, size_t i);
Result<Tensor> compute_further(const Recurrence&, const Arguments&, size_t i);
Result<Tensor> compute_further(const CacheHeads&, const Arguments&, size_t i);
Result<Tensor> compute_further(const CachedAttention&, const Arguments&, size_t i);

// Computes all results of an op whose results need the same long search.
std::vector<Tensor> compute_together(const Quantize&, const Arguments&);

}  // namespace rung::reference

// What the judge computes for each op: one function per op struct; evaluate_results() dispatches to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ir/op.hpp"
#include "ir/tensor.hpp"

namespace rung::reference {

// Operands and result type, already checked against the op's type rule.
struct Arguments {
  std::span<const Tensor> operands;
  const Type& result;
  const Tensor& operator[](size_t i) const { return operands[i]; }
  size_t size() const { return operands.size(); }
};

// Every op has one in FAMILY.cpp; there is no default. Of an op with several results: the first.
#define RUNG_DECLARE_COMPUTE(Struct) Result<Tensor> compute(const Struct&, const Arguments&);
RUNG_EACH_OP(RUNG_DECLARE_COMPUTE)
#undef RUNG_DECLARE_COMPUTE

// Their further results.
Result<Tensor> compute_places(const TopK&, const Arguments&);
Result<Tensor> compute_scaled(const Linear&, const Arguments&);   // by the norm's weights
Result<Tensor> compute_squares(const Linear&, const Arguments&);  // their means over runs of columns

}  // namespace rung::reference

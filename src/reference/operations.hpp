// The list of ops that the judge knows: one function per op struct; evaluate_op() dispatches to them.
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

Result<Tensor> compute(const Input&, const Arguments&);
Result<Tensor> compute(const Constant&, const Arguments&);
Result<Tensor> compute(const Unary&, const Arguments&);
Result<Tensor> compute(const Binary&, const Arguments&);
Result<Tensor> compute(const Cast&, const Arguments&);
Result<Tensor> compute(const Select&, const Arguments&);
Result<Tensor> compute(const MatMul&, const Arguments&);
Result<Tensor> compute(const Linear&, const Arguments&);
Result<Tensor> compute(const Conv2d&, const Arguments&);
Result<Tensor> compute(const Attention&, const Arguments&);
Result<Tensor> compute(const Softmax&, const Arguments&);
Result<Tensor> compute(const LayerNorm&, const Arguments&);
Result<Tensor> compute(const RmsNorm&, const Arguments&);
Result<Tensor> compute(const L2Normalize&, const Arguments&);
Result<Tensor> compute(const Reduce&, const Arguments&);
Result<Tensor> compute(const CumSum&, const Arguments&);
Result<Tensor> compute(const Reshape&, const Arguments&);
Result<Tensor> compute(const Transpose&, const Arguments&);
Result<Tensor> compute(const Slice&, const Arguments&);
Result<Tensor> compute(const Concat&, const Arguments&);
Result<Tensor> compute(const Broadcast&, const Arguments&);
Result<Tensor> compute(const Gather&, const Arguments&);
Result<Tensor> compute(const Rope&, const Arguments&);
Result<Tensor> compute(const GatedMul&, const Arguments&);
Result<Tensor> compute(const Im2col&, const Arguments&);
Result<Tensor> compute(const MaskedMean&, const Arguments&);
Result<Tensor> compute(const Pointwise&, const Arguments&);

}  // namespace rung::reference

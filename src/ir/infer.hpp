// Type rules of the ops, one per struct; infer_type() (ir/op.hpp) dispatches to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung::infer {

using Types = std::span<const Type>;

Result<Type> rule(const Input&, Types);
Result<Type> rule(const Constant&, Types);
Result<Type> rule(const Unary&, Types);
Result<Type> rule(const Binary&, Types);
Result<Type> rule(const Cast&, Types);
Result<Type> rule(const Select&, Types);
Result<Type> rule(const MatMul&, Types);
Result<Type> rule(const Linear&, Types);
Result<Type> rule(const Conv2d&, Types);
Result<Type> rule(const Attention&, Types);
Result<Type> rule(const Softmax&, Types);
Result<Type> rule(const LayerNorm&, Types);
Result<Type> rule(const RmsNorm&, Types);
Result<Type> rule(const L2Normalize&, Types);
Result<Type> rule(const Reduce&, Types);
Result<Type> rule(const CumSum&, Types);
Result<Type> rule(const Reshape&, Types);
Result<Type> rule(const Transpose&, Types);
Result<Type> rule(const Slice&, Types);
Result<Type> rule(const Concat&, Types);
Result<Type> rule(const Broadcast&, Types);
Result<Type> rule(const Gather&, Types);
Result<Type> rule(const Rope&, Types);
Result<Type> rule(const GatedMul&, Types);
Result<Type> rule(const Im2col&, Types);
Result<Type> rule(const MaskedMean&, Types);
Result<Type> rule(const Pointwise&, Types);

Status want_count(Types types, size_t wanted);
Status want_float(const Type& type, std::string_view what);
Status want_shape(const Type& type, const Shape& wanted, std::string_view what);
Status want_rank(const Type& type, int wanted, std::string_view what);
// Its elements can be counted: see checked_shape.hpp.
Status want_countable(const Type& type);
Status want_same_dtype(const Type& a, const Type& b);
// The operand broadcasts to `wanted` without enlarging it.
Status want_broadcast_to(const Type& type, const Shape& wanted, std::string_view what);

}  // namespace rung::infer

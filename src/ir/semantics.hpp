// The meaning of each op beyond its type: the role of each operand, the elements of an operand that an element of the
// result depends on, axis by axis, the number of terms that it adds up, and its work. Passes, costs and tolerances ask
// here, so that each fact of an op is written once, beside its type rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung {

enum class OperandRole : uint8_t {
  data,       // moved, or computed with element by element
  product,    // multiplied and summed up: the op runs at the speed of its type
  weights,    // multiplied and summed up, but the model's own: passes cut and batch the other operands
  statistic,  // rows of which the op takes a mean, a maximum or a norm in f32
  scale,      // a factor or summand in a float type of its own: norm weights, biases, rotary tables
  residual,   // added to the result, in any float type
  mask,       // added to scores
  index,      // selects the elements of another operand that are read
};

// The op's treatment of an operand that holds -inf beside numbers.
enum class InfinityUse : uint8_t {
  spoils,   // computes with it: the result means nothing
  carries,  // adds, scales, moves or converts it: the result is a mask, or masked scores
  masks,    // leaves out what it is added to: softmax, and attention of its mask
};

// The elements along one axis of an operand that an element of the result depends on.
struct AxisRead {
  enum class Kind : uint8_t {
    same,       // the one at its own place along result axis `axis`
    broadcast,  // the only element, for all places along result axis `axis`
    joined,     // the one `begin` before its own place along result axis `axis`, if this operand has it
    window,     // `width` of them from begin + step * (its own place along result axis `axis`) on
    reduced,    // all, which are summed up, compared or counted
    whole,      // any; the sizes of the `axes` result axes from `axis` on follow from this operand
  };
  Kind kind = Kind::whole;
  int axis = 0, axes = 0;
  int64_t begin = 0, step = 1, width = 1;
  bool leads_to(int result_axis) const {
    return kind == Kind::whole ? result_axis >= axis && result_axis < axis + axes
                               : kind != Kind::reduced && result_axis == axis;
  }
};

struct OperandUse {
  OperandRole role = OperandRole::data;
  std::vector<AxisRead> axes;  // one for each axis of the operand
  bool broadcasts = false;     // an axis of size 1 serves all of the result's
  bool any_float = false;      // may have another float type than the op's other operands
  bool picked = false;         // no more elements are read than the result has
  int64_t updated = 0;         // elements that the op sets where they are; at a text's beginning it reads none
  InfinityUse infinity = InfinityUse::spoils;
  bool is_product() const { return role == OperandRole::product || role == OperandRole::weights; }
};

struct Semantics {
  std::vector<OperandUse> operands;
  int64_t terms = 0;  // terms added up one after another for one element of the result, in `accumulator`
  DType accumulator = DType::f32;
  double flops = 0;  // a multiply-add is two, every other function of one element one

  bool has(OperandRole role) const;
  // Returns whether result axis `axis` can be cut by cutting the operands along the axes that lead to it.
  bool is_free(int axis) const;
};

// Returns the semantics of an op whose first result has the type `result`. They hold for further results too, at their
// place along the axes that have the first's size; along other axes, the operands that lead to them are read whole.
// Nothing is known of the operands of an NthResult.
Semantics semantics_of(const Op& op, std::span<const Type> operands, const Type& result);

}  // namespace rung

// The meaning of each op beyond its type: the role of each operand, the elements of it that an element of the result
// depends on, axis by axis, the number of terms it adds up, and its work. Passes, costs and tolerances ask here, so
// that each fact of an op is written once, beside its type rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.hpp"

namespace rung {

enum class OperandRole : uint8_t {
  data,       // moved, or computed with element by element
  product,    // multiplied and summed up: the op runs at the speed of its type
  weights,    // likewise, but the model's own: passes cut and batch the op's other operands
  statistic,  // rows of which the op takes a mean, a maximum or a norm in f32
  scale,      // a factor or summand in a float type of its own: norm weights, biases, rotary tables
  residual,   // added to the result, in any float type
  mask,       // added to scores
  index,      // says which elements of another operand are read
};

// The op's treatment of an operand that holds -inf beside numbers.
enum class InfinityUse : uint8_t {
  spoils,   // computes with it: the result means nothing
  carries,  // adds, scales, moves or converts it: the result is a mask, or masked scores
  masks,    // leaves out what it is added to: softmax, and attention of its mask
};

// Which elements along one axis of an operand an element of the result depends on.
struct AxisRead {
  enum class Kind : uint8_t {
    same,       // the one in its own place along result axis `axis`
    broadcast,  // the only one there is, all along result axis `axis`
    joined,     // the one `begin` places before its own along result axis `axis`, where this operand has one
    window,     // `width` of them from begin + step * (its own place along result axis `axis`) on
    reduced,    // all: they are summed up, compared or counted
    whole,      // possibly any, and the sizes of the `axes` result axes from `axis` on follow from this operand
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
  std::vector<AxisRead> axes;  // of each axis of the operand
  bool broadcasts = false;     // an axis of size 1 serves all of the result's
  bool any_float = false;      // may have another float type than the op's other operands
  bool picked = false;         // no more elements are read than the result has
  InfinityUse infinity = InfinityUse::spoils;
  bool is_product() const { return role == OperandRole::product || role == OperandRole::weights; }
};

struct Semantics {
  std::vector<OperandUse> operands;
  int64_t terms = 0;  // added up one after another for one element of the result, in `accumulator`
  DType accumulator = DType::f32;
  double flops = 0;  // a multiply-add is two, every other function of one element one

  bool has(OperandRole role) const;
  // May result axis `axis` be cut, by cutting the operands along the axes that lead to it?
  bool is_free(int axis) const;
};

// `result` is the op's first. What is said holds of further results too, in their place along the axes that have the
// first's size; where an axis has another, the operands that lead to it are read whole. Of what an NthResult reads
// nothing is known.
Semantics semantics_of(const Op& op, std::span<const Type> operands, const Type& result);

}  // namespace rung

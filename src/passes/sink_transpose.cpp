// transpose(f(x))  =>  f(transpose(x))      for every f that can work in either layout
// SPDX-License-Identifier: Apache-2.0
#include "passes/sink_transpose.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns the place of the operand's axis `axis` in the transposed value.
int moved_axis(const Dims& permutation, int axis) { return static_cast<int>(inverse(permutation)[axis]); }

}  // namespace

NodeId TransposeSinker::add_after(NodeId anchor, Op op, std::vector<NodeId> operands) {
  Insertion here(graph_, graph_[anchor].next);
  return graph_.add(std::move(op), std::move(operands), graph_[anchor].label);
}

NodeId TransposeSinker::sink(NodeId x, const Dims& permutation) {
  if (is_identity(permutation)) return x;
  auto key = std::make_pair(x, std::vector<int64_t>(permutation.begin(), permutation.end()));
  if (auto it = built_.find(key); it != built_.end()) return it->second;
  NodeId node = build(x, permutation);
  built_.emplace(std::move(key), node);
  return node;
}

// Returns whether the op is cheap enough to be computed again for a reader of the old layout, and works in either
// layout: its operands' axes are the result's own, and the axes that it mixes stay in place.
bool TransposeSinker::can_sink_below(NodeId x, const Semantics& semantics, const Dims& permutation) const {
  const Op& op = graph_[x].op;
  if (!as<Cast>(op) && !as<Rope>(op) && !as<Concat>(op) && !as<Slice>(op) && !as<Gather>(op)) return false;
  for (const OperandUse& use : semantics.operands) {
    if (use.role == OperandRole::index && use.axes.size() != 1) return false;
    for (const AxisRead& read : use.axes)
      if (read.kind == AxisRead::Kind::whole && read.axes > 0 && permutation[read.axis] != read.axis) return false;
  }
  return true;
}

NodeId TransposeSinker::build(NodeId x, const Dims& permutation) {
  Op op = graph_[x].op;
  const std::vector<NodeId> operands = graph_[x].operands;
  if (const auto* inner = as<Transpose>(op)) return sink(operands[0], compose(inner->permutation, permutation));
  // A norm of rows is not computed twice, and its weights have no axis but the last.
  if (as<RmsNorm>(op) && graph_.single_use(x) && permutation[permutation.rank() - 1] == permutation.rank() - 1)
    return add_after(x, std::move(op), {sink(operands[0], permutation), operands[1]});
  const Semantics semantics = semantics_of(graph_, x);
  if (!can_sink_below(x, semantics, permutation)) return add_after(x, Transpose{permutation}, {x});
  if (int64_t* axis = axis_field(op)) *axis = moved_axis(permutation, axis_in(graph_, x, *axis));
  std::vector<NodeId> moved;
  for (size_t i = 0; i < operands.size(); ++i)
    moved.push_back(semantics.operands[i].role == OperandRole::index ? operands[i]
                                                                     : sink_operand(operands[i], permutation));
  return add_after(x, std::move(op), std::move(moved));
}

// The operand's rank may be lower than the result's: leading dimensions of 1 are implied.
NodeId TransposeSinker::sink_operand(NodeId operand, const Dims& permutation) {
  Shape shape = graph_.shape(operand);
  if (shape.rank() == permutation.rank()) return sink(operand, permutation);
  while (shape.rank() < permutation.rank()) shape.insert(0, 1);
  auto key = std::make_pair(operand, std::vector<int64_t>(shape.begin(), shape.end()));
  auto [it, is_new] = built_.try_emplace(key, kNoNode);
  if (is_new) it->second = add_after(operand, Reshape{shape}, {operand});
  return sink(it->second, permutation);
}

}  // namespace rung::passes

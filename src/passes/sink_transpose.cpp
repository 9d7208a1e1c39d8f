// transpose(f(x))  =>  f(transpose(x))      for every f that can work in either layout
// SPDX-License-Identifier: Apache-2.0
#include "passes/sink_transpose.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Where operand axis `axis` stands in the transposed value.
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

NodeId TransposeSinker::build(NodeId x, const Dims& permutation) {
  const Op op = graph_[x].op;
  const std::vector<NodeId> operands = graph_[x].operands;
  if (const auto* inner = as<Transpose>(op)) return sink(operands[0], compose(inner->permutation, permutation));
  if (as<Cast>(op)) return add_after(x, op, {sink(operands[0], permutation)});
  if (as<Rope>(op) && permutation.back() == permutation.rank() - 1) return sink_rope(x, permutation);
  if (const auto* concat = as<Concat>(op)) {
    std::vector<NodeId> parts;
    for (NodeId part : operands) parts.push_back(sink(part, permutation));
    return add_after(x, Concat{moved_axis(permutation, axis_in(graph_, x, concat->axis))}, std::move(parts));
  }
  if (const auto* slice = as<Slice>(op)) {
    Slice moved = *slice;
    moved.axis = moved_axis(permutation, axis_in(graph_, x, slice->axis));
    return add_after(x, moved, {sink(operands[0], permutation)});
  }
  if (const auto* gather = as<Gather>(op); gather && graph_.shape(operands[1]).rank() == 1)
    return add_after(x, Gather{moved_axis(permutation, axis_in(graph_, x, gather->axis))},
                     {sink(operands[0], permutation), operands[1]});
  return add_after(x, Transpose{permutation}, {x});
}

NodeId TransposeSinker::sink_rope(NodeId x, const Dims& permutation) {
  const std::vector<NodeId> operands = graph_[x].operands;
  return add_after(
      x, Rope{},
      {sink(operands[0], permutation), sink_table(operands[1], permutation), sink_table(operands[2], permutation)});
}

// cos or sin, whose rank may be lower than x's: leading dimensions of 1 are implied.
NodeId TransposeSinker::sink_table(NodeId table, const Dims& permutation) {
  Shape shape = graph_.shape(table);
  if (shape.rank() == permutation.rank()) return sink(table, permutation);
  while (shape.rank() < permutation.rank()) shape.insert(0, 1);
  auto key = std::make_pair(table, std::vector<int64_t>(shape.begin(), shape.end()));
  auto [it, is_new] = built_.try_emplace(key, kNoNode);
  if (is_new) it->second = add_after(table, Reshape{shape}, {table});
  return sink(it->second, permutation);
}

}  // namespace rung::passes

// Helpers that rewrites share: walking, replacing, cleaning up, reading small constants, and building simple views.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "passes/pass.hpp"

namespace rung::passes {

// Visits every node that is alive when its turn comes, operands before users; `visit` may edit the graph.
template <class Visit>
void for_each_node(Graph& graph, Visit visit) {
  for (NodeId id : graph.order())
    if (graph[id].alive) visit(id);
}

// Erases `id` if nothing uses it, then every operand that thereby lost its last use; inputs stay.
void erase_unused(Graph& graph, NodeId id);
// Makes all readers of `old` read `by`, and erases `old`. Returns true, so that a rewrite can end with it.
bool replace_with(Graph& graph, NodeId old, NodeId by);
// Puts `op` where `old` stood, under its label.
NodeId replace(Graph& graph, NodeId old, Op op, std::vector<NodeId> operands);
// Replaces `old` if a kernel runs `op`; else returns false.
bool replace_if_kernel(Graph& graph, PassContext& context, NodeId old, const Op& op, std::vector<NodeId> operands);

// Returns the axis of `x` as a non-negative number.
int axis_in(const Graph& graph, NodeId x, int64_t axis);

// Returns the value that all elements of a small constant in memory, or of a view of one, share, if they do.
std::optional<double> uniform_value(const Graph& graph, NodeId id);
// Returns the elements of a constant of integers in memory.
std::optional<std::vector<int64_t>> index_values(const Graph& graph, NodeId id);
// Returns whether indices[i] == indices[0] + i for all i, and there are any.
bool is_contiguous(const std::vector<int64_t>& indices);

// The views that these functions add compose with the views they read: no reshape of a reshape, no transpose that does
// nothing. They stand at the graph's insertion point.
NodeId reshaped(Graph& graph, NodeId x, const Shape& shape, const std::string& label = {});
NodeId transposed(Graph& graph, NodeId x, const Dims& permutation, const std::string& label = {});
NodeId cast_to(Graph& graph, NodeId x, DType dtype);
bool is_identity(const Dims& permutation);
Dims compose(const Dims& inner, const Dims& outer);  // transpose(transpose(x, inner), outer)
Dims inverse(const Dims& permutation);

}  // namespace rung::passes

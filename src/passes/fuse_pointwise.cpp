// Fuses the remaining element-wise ops that lead to one result, which then run in one sweep over memory.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/pointwise_group.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// f(g(x), h(g(x), y)), ...  =>  pointwise(x, y)      only members read g, shapes agree, f32 registers hold every value
bool fuse_within(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant,
                 const PointwiseLimits& limits) {
  if (constant[id] || !is_pointwise(graph, id, limits)) return false;
  PointwiseGroup group(graph, id, constant, limits);
  if (group.size() < 2) return false;
  PointwiseProgram program = group.program();
  if (program.instructions.empty() || group.operands().empty()) return false;
  Pointwise op{print_pointwise(program), graph.type(id).dtype};
  auto type = graph.infer(op, group.operands());
  if (!type || !(*type == graph.type(id)) || !context.kernel_for(graph, op, group.operands())) return false;
  replace(graph, id, op, group.operands());
  return true;
}

// A group of the tighter limits where no row takes the larger one.
bool fuse(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant) {
  return fuse_within(graph, context, id, constant, kGeneratedLimits) ||
         fuse_within(graph, context, id, constant, kInterpretedLimits);
}

}  // namespace

Status fuse_pointwise(Graph& graph, PassContext& context) {
  std::vector<bool> constant = constant_nodes(graph);
  std::vector<NodeId> order = graph.order();
  size_t before = graph.size(), groups = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it)  // users first, so that every group is as large as it can be
    if (graph[*it].alive) groups += fuse(graph, context, *it, constant);
  if (groups)
    context.notes.add("{} of element-wise ops took {} nodes", words::counted(groups, "group"),
                      before - graph.size() + groups);
  return {};
}

}  // namespace rung::passes

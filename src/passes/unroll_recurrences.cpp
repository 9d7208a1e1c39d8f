// Makes steps of recurrences that the device has no kernel for.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "import/exported/recurrent.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// recurrence(x, w, h)  =>  concat(tanh(x_0 + w h), ...)      no kernel takes all steps, and they are not too many
bool unroll(Graph& graph, PassContext& context, NodeId id) {
  const auto* op = graph.as<Recurrence>(id);
  if (!op || graph.shape(id)[0] > exported::kMostSteps) return false;
  const std::vector<NodeId> operands = graph[id].operands;
  if (context.kernel_for(graph, *op, operands)) return false;
  Insertion here(graph, id);
  GraphBuilder builder(graph);
  const exported::Emit emit(builder, graph[id].label);
  const auto steps = exported::unrolled(emit, *op, operands);
  const std::vector<NodeId> users = graph[id].users;
  for (const NodeId user : users)
    if (graph.as<NthResult>(user)) replace_with(graph, user, emit.unsqueeze(steps.c, 0));
  return replace_with(graph, id, steps.all);
}

}  // namespace

Status unroll_recurrences(Graph& graph, PassContext& context) {
  size_t unrolled = 0;
  for_each_node(graph, [&](NodeId id) { unrolled += unroll(graph, context, id); });
  if (unrolled) context.notes.add("{} as steps", words::counted(unrolled, "recurrence", "recurrences"));
  return {};
}

}  // namespace rung::passes

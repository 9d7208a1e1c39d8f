// Moves activations, residual sums and other element-wise ops into the convolution before them.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/functions.hpp"
#include "passes/passes.hpp"
#include "passes/pointwise_group.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns a conv that only one node reads, and that gives floats.
const Conv* lone_conv(const Graph& graph, NodeId id) {
  const Conv* conv = graph.single_use(id) ? graph.as<Conv>(id) : nullptr;
  return conv && !conv->out ? conv : nullptr;
}

// relu(conv(x))  =>  conv(x, activation=relu), or last=relu where it has a residual      nothing else reads the conv
bool take_activation(Graph& graph, PassContext& context, NodeId id) {
  const auto* unary = graph.as<Unary>(id);
  const auto activation = unary ? activation_of(unary->kind) : std::nullopt;
  if (!activation) return false;
  const NodeId x = graph[id].operands[0];
  const Conv* conv = lone_conv(graph, x);
  if (!conv || conv->last != Activation::none) return false;
  Conv op = *conv;
  if (!op.has(ConvSlot::residual) && op.activation != Activation::none) return false;
  (op.has(ConvSlot::residual) ? op.last : op.activation) = *activation;
  return replace_if_kernel(graph, context, id, op, graph[x].operands);
}

// add(conv(x), r)  =>  conv(x, residual=r)      r has the sum's type; the conv has no residual, and nothing else reads
// it
bool take_residual(Graph& graph, PassContext& context, NodeId id) {
  const auto* sum = graph.as<Binary>(id);
  if (!sum || sum->kind != BinaryKind::add) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const NodeId x = graph[id].operands[i], residual = graph[id].operands[1 - i];
    const Conv* conv = lone_conv(graph, x);
    if (!conv || conv->has(ConvSlot::residual) || !(graph.type(x) == graph.type(id)) ||
        !(graph.type(residual) == graph.type(id)))
      continue;
    Conv op = *conv;
    std::vector<NodeId> operands = graph[x].operands;
    op.slots.put(operands, ConvSlot::residual, residual);
    if (replace_if_kernel(graph, context, id, op, std::move(operands))) return true;
  }
  return false;
}

// f(g(conv(x)), conv(x))  =>  conv(x, tail="...")      element-wise ops read nothing but the conv and numbers, and no
// other node reads the conv, which has the result's type
bool take_tail(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant) {
  if (constant[id] || !is_pointwise(graph, id, kInterpretedLimits)) return false;
  PointwiseGroup group(graph, id, constant, kInterpretedLimits);
  const PointwiseProgram program = group.program();
  if (group.operands().size() != 1 || program.instructions.empty()) return false;
  const NodeId x = group.operands()[0];
  const Conv* conv = graph.as<Conv>(x);
  if (!conv || conv->is_of_integers() || !conv->tail.empty() || !(graph.type(x) == graph.type(id)) ||
      !group.has_all_readers_of(x))
    return false;
  Conv op = *conv;
  op.tail = print_pointwise(program);
  return replace_if_kernel(graph, context, id, op, graph[x].operands);
}

}  // namespace

Status fuse_conv(Graph& graph, PassContext& context) {
  size_t fused = 0;
  for_each_node(graph,
                [&](NodeId id) { fused += take_activation(graph, context, id) || take_residual(graph, context, id); });
  const std::vector<bool> constant = constant_nodes(graph);
  const std::vector<NodeId> order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it)  // users first, so that a tail is as long as it can be
    if (graph[*it].alive) fused += take_tail(graph, context, *it, constant);
  if (fused)
    context.notes.add("{} fused", words::counted(fused, "activation, residual sum or tail of a convolution",
                                                 "activations, residual sums and tails of convolutions"));
  return {};
}

}  // namespace rung::passes

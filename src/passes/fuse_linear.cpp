// Moves activations, gates and residual sums into the linear before them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/functions.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Applies `rule` to every node, and notes how often it fired.
template <class Rule>
Status apply(Graph& graph, PassContext& context, std::string_view what, Rule rule) {
  size_t fused = 0;
  for_each_node(graph, [&](NodeId id) { fused += rule(id); });
  if (fused) context.notes.add("{} {}", fused, what);
  return {};
}

// Returns the linear if the node being fused is its only reader, else null.
const Linear* lone_linear(const Graph& graph, NodeId id) {
  return graph.single_use(id) ? graph.as<Linear>(id) : nullptr;
}

// gelu(linear(x))  =>  linear(x, activation=gelu)      the linear has no activation, residual or other reader
bool add_activation(Graph& graph, PassContext& context, NodeId id) {
  const auto* unary = graph.as<Unary>(id);
  auto activation = unary ? activation_of(unary->kind) : std::nullopt;
  if (!activation) return false;
  NodeId x = graph[id].operands[0];
  const Linear* linear = lone_linear(graph, x);
  if (!linear || !linear->is_plain()) return false;
  Linear op = *linear;
  op.epilogue.activation = *activation;
  return replace_if_kernel(graph, context, id, op, graph[x].operands);
}

// add(linear(x), r)  =>  linear(x, residual=r)      r has the sum's elements; the linear has no residual or other
// reader
bool add_residual(Graph& graph, PassContext& context, NodeId id) {
  const auto* sum = graph.as<Binary>(id);
  if (!sum || sum->kind != BinaryKind::add) return false;
  for (size_t i : {size_t{1}, size_t{0}}) {  // authors write x + f(x)
    NodeId x = graph[id].operands[i], residual = graph[id].operands[1 - i];
    const Linear* linear = lone_linear(graph, x);
    if (!linear || linear->has(LinearSlot::residual) || linear->is_extended() || !(graph.type(x) == graph.type(id)))
      continue;
    if (graph.type(residual).elements() != graph.type(id).elements()) continue;
    Linear op = *linear;
    Insertion here(graph, id);
    std::vector<NodeId> operands = graph[x].operands;
    op.slots.put(operands, LinearSlot::residual, reshaped(graph, residual, graph.shape(id), graph[residual].label));
    if (!context.kernel_for(graph, op, operands)) continue;
    // The product's label says more than the sum's, under which a layer may have several.
    const std::string label = graph[x].label.empty() ? graph[id].label : graph[x].label;
    return replace_with(graph, id, graph.add(op, std::move(operands), label));
  }
  return false;
}

struct Halves {
  NodeId linear, gate, up;
};

// Returns whether gate and up are the two halves of one linear that nothing else reads.
bool are_halves(const Graph& graph, const Halves& h) {
  const Linear* linear = graph.as<Linear>(h.linear);
  const auto *gate = graph.as<Slice>(h.gate), *up = graph.as<Slice>(h.up);
  if (!linear || !linear->is_plain()) return false;
  if (graph[h.linear].users.size() != 2 || graph.is_output(h.linear) || h.gate == h.up) return false;
  int last = graph.shape(h.linear).rank() - 1;
  int64_t width = graph.shape(h.linear).back() / 2;
  auto is_half = [&](NodeId id, const Slice& s) {
    return axis_in(graph, id, s.axis) == last && s.step == 1 && s.end - s.begin == width && s.begin % width == 0;
  };
  return graph.shape(h.linear).back() == 2 * width && is_half(h.gate, *gate) && is_half(h.up, *up) &&
         gate->begin != up->begin;
}

// mul(act(gate half), up half) of one linear  =>  linear(gated)      gate rows come first; if not, the constant rows
// swap
bool fuse_halves(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kGated =
      binary(BinaryKind::mul, op<Unary>(op<Slice>(any("linear")).one_use().named("gate")).one_use().named("act"),
             op<Slice>(any("linear")).one_use().named("up"));
  auto m = match(graph, id, kGated);
  if (!m) return false;
  auto activation = activation_of(graph.as<Unary>((*m)["act"])->kind);
  Halves h{(*m)["linear"], (*m)["gate"], (*m)["up"]};
  if (!activation || !are_halves(graph, h)) return false;
  Linear op = *graph.as<Linear>(h.linear);
  op.epilogue.gated = true, op.epilogue.activation = *activation;
  std::vector<NodeId> operands = graph[h.linear].operands;
  if (graph.as<Slice>(h.gate)->begin != 0) {
    Insertion here(graph, h.linear);
    for (size_t i = 1; i < operands.size(); ++i) {
      int64_t rows = graph.shape(operands[i])[0];
      NodeId upper = graph.add(Slice{0, rows / 2, rows, 1}, {operands[i]}),
             lower = graph.add(Slice{0, 0, rows / 2, 1}, {operands[i]});
      operands[i] = graph.add(Concat{0}, {upper, lower}, graph[operands[i]].label);
    }
  }
  return replace_if_kernel(graph, context, id, op, std::move(operands));
}

// mul(act(a), b)  =>  gated_mul(a, b)      equal types; the activation has no other reader
bool fuse_product(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kProduct = binary(BinaryKind::mul, op<Unary>(any("gate")).one_use().named("act"), any("up"));
  auto m = match(graph, id, kProduct);
  if (!m) return false;
  auto activation = activation_of(graph.as<Unary>((*m)["act"])->kind);
  if (!activation || !(graph.type((*m)["gate"]) == graph.type((*m)["up"]))) return false;
  return replace_if_kernel(graph, context, id, GatedMul{*activation}, {(*m)["gate"], (*m)["up"]});
}

}  // namespace

Status fuse_gated(Graph& graph, PassContext& context) {
  return apply(graph, context, "gated products",
               [&](NodeId id) { return fuse_halves(graph, context, id) || fuse_product(graph, context, id); });
}

Status fuse_activation(Graph& graph, PassContext& context) {
  return apply(graph, context, "activations moved into the linear before",
               [&](NodeId id) { return add_activation(graph, context, id); });
}

Status fuse_residual(Graph& graph, PassContext& context) {
  return apply(graph, context, "residual sums moved into the linear before",
               [&](NodeId id) { return add_residual(graph, context, id); });
}

// layer_norm(add(x, r))  =>  layer_norm(x, residual=r)      equal types; nothing else reads the sum
Status fuse_add_norm(Graph& graph, PassContext& context) {
  static const Pattern kNorm =
      op<LayerNorm>(binary(BinaryKind::add, any("x"), any("r")).one_use(), any("weight"), any("bias"));
  return apply(graph, context, "residual sums moved into the norm after", [&](NodeId id) {
    auto m = match(graph, id, kNorm);
    if (!m || !(graph.type((*m)["x"]) == graph.type((*m)["r"]))) return false;
    LayerNorm op = *graph.as<LayerNorm>(id);
    if (op.has_residual()) return false;
    op.slots.add(LayerNormSlot::residual);
    return replace_if_kernel(graph, context, id, op, {(*m)["x"], (*m)["r"], (*m)["weight"], (*m)["bias"]});
  });
}

}  // namespace rung::passes

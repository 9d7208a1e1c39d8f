// Turns rotary position embedding, as its author writes it, into one op.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool is_half(const Graph& graph, NodeId id, NodeId x, bool upper) {
  const auto& slice = *graph.as<Slice>(id);
  int64_t size = graph.shape(x).back(), begin = upper ? size / 2 : 0;
  return size % 2 == 0 && axis_in(graph, x, slice.axis) == graph.shape(x).rank() - 1 && slice.step == 1 &&
         slice.begin == begin && slice.end == begin + size / 2;
}

// x * cos + concat(-x[D/2:], x[:D/2]) * sin  =>  rope(x, cos, sin)      cos and sin broadcast to x
bool make_rope(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kTurned =
      op<Concat>(unary(UnaryKind::neg, op<Slice>(any("x")).named("upper")), op<Slice>(any("x")).named("lower"))
          .named("turned");
  static const Pattern kRope = binary(BinaryKind::add, binary(BinaryKind::mul, kTurned, any("sin")).one_use(),
                                      binary(BinaryKind::mul, any("x"), any("cos")).one_use());
  auto m = match(graph, id, kRope);
  if (!m) return false;
  NodeId x = (*m)["x"], turned = (*m)["turned"];
  if (!(graph.type(x) == graph.type(id)) || !is_half(graph, (*m)["upper"], x, true) ||
      !is_half(graph, (*m)["lower"], x, false))
    return false;
  if (axis_in(graph, turned, graph.as<Concat>(turned)->axis) != graph.shape(x).rank() - 1) return false;
  std::vector<NodeId> operands{x, (*m)["cos"], (*m)["sin"]};
  if (!context.kernel_for(graph, Rope{}, operands)) return false;
  replace(graph, id, Rope{}, std::move(operands));
  return true;
}

}  // namespace

Status recognise_rope(Graph& graph, PassContext& context) {
  size_t found = 0;
  for_each_node(graph, [&](NodeId id) { found += make_rope(graph, context, id); });
  if (found)
    context.notes.add("{}",
                      words::counted(found, "rotary embedding became one op", "rotary embeddings became one op each"));
  return {};
}

}  // namespace rung::passes

// Lowers a convolution whose windows do not overlap to a linear over patches.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/simplify.hpp"

namespace rung::passes {
namespace {

// Simplifies the readers of the result, which usually turn patches into rows: their views cancel.
void simplify_readers(Graph& graph, NodeId id) {
  std::vector<NodeId> users = graph[id].users;
  for (NodeId user : users) {
    bool is_joined = graph[user].alive && (graph.as<Reshape>(user) || graph.as<Transpose>(user));
    if (!is_joined) continue;
    std::vector<NodeId> next = graph[user].users;
    simplify_node(graph, user);
    for (NodeId reader : next)
      if (graph[reader].alive) simplify_node(graph, reader);
  }
}

// conv2d(x, w, b)  =>  reshape(transpose(linear(im2col(x), reshape(w), b)))      square windows as wide as the stride
bool lower(Graph& graph, PassContext& context, NodeId id) {
  const auto* conv = graph.as<Conv2d>(id);
  if (!conv) return false;
  NodeId x = graph[id].operands[0], w = graph[id].operands[1], bias = graph[id].operands[2];
  const Shape window = graph.shape(w), out = graph.shape(id);
  int64_t patch = conv->stride;
  if (window[2] != patch || window[3] != patch) return false;
  std::vector<NodeId> source{x};
  if (!context.kernel_for(graph, Im2col{patch}, source)) return false;
  Insertion here(graph, id);
  const std::string label = graph[id].label;
  NodeId patches = graph.add(Im2col{patch}, {x}, label);
  NodeId matrix = reshaped(graph, w, {window[0], window[1] * patch * patch}, graph[w].label);
  NodeId rows =
      graph.add(Linear{.slots = {LinearSlot::bias}, .out = graph.type(id).dtype}, {patches, matrix, bias}, label);
  NodeId channels = graph.add(Transpose{{0, 2, 1}}, {rows}, label);
  NodeId image = graph.add(Reshape{out}, {channels}, label);
  replace_with(graph, id, image);
  simplify_readers(graph, image);
  return true;
}

}  // namespace

Status lower_patch_conv(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) { lowered += lower(graph, context, id); });
  if (lowered)
    context.notes.add(
        "{}", words::counted(lowered, "patch convolution became a linear", "patch convolutions became linears"));
  return {};
}

}  // namespace rung::passes

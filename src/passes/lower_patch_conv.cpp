// Lowers a convolution whose windows do not overlap, of an image whose channels come first, to a linear over patches.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/windows.hpp"
#include "passes/conv_parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/simplify.hpp"

namespace rung::passes {
namespace {

// Simplifies the readers of the result, which usually turn patches into rows: their views cancel.
void simplify_readers(Graph& graph, NodeId id) {
  const std::vector<NodeId> users = graph[id].users;
  for (NodeId user : users)
    if (graph[user].alive && (graph.as<Reshape>(user) || graph.as<Transpose>(user))) simplify_node(graph, user);
}

bool is_patch(const Conv& conv, const Shape& x, const Shape& w) {
  if (x.rank() != 4 || conv.groups != 1 || !conv.is_plain()) return false;
  const Window rows = window_of(conv, x, w, 0), columns = window_of(conv, x, w, 1);
  return rows.is_patch() && columns.is_patch() && rows.taps == columns.taps && rows.taps > 1;
}

// conv(transpose(x), w, b)  =>  reshape(linear(im2col(x), reshape(transpose(w)), b))      square windows as wide as the
// stride; x has its channels behind the batch
bool lower(Graph& graph, PassContext& context, NodeId id) {
  const auto* conv = graph.as<Conv>(id);
  if (!conv) return false;
  const std::vector<NodeId> operands = graph[id].operands;
  const auto* turned = graph.as<Transpose>(operands[0]);
  if (!turned || !(turned->permutation == Dims{0, 2, 3, 1})) return false;
  const Shape window = graph.shape(operands[1]), out = graph.shape(id);
  if (!is_patch(*conv, graph.shape(operands[0]), window) || scales_channels(graph, id)) return false;
  const int64_t patch = window[1];
  const std::vector<NodeId> source{graph[operands[0]].operands[0]};
  if (!context.kernel_for(graph, Im2col{patch}, source)) return false;
  Insertion here(graph, id);
  const std::string label = graph[id].label;
  const NodeId patches = graph.add(Im2col{patch}, source, label);
  const NodeId channels_first = transposed(graph, operands[1], {0, 3, 1, 2}, graph[operands[1]].label);
  const NodeId matrix =
      reshaped(graph, channels_first, {window[0], window.product() / window[0]}, graph[operands[1]].label);
  Linear linear{.out = graph.type(id).dtype};
  std::vector<NodeId> of_linear{patches, matrix};
  if (conv->has(ConvSlot::bias)) linear.slots.put(of_linear, LinearSlot::bias, operands[2]);
  const NodeId rows = graph.add(linear, std::move(of_linear), label);
  const NodeId image = graph.add(Reshape{out}, {rows}, label);
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

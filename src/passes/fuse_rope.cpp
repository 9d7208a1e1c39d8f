// Moves rotary embeddings into the projections that make their heads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotated_columns.hpp"

namespace rung::passes {
namespace {

// Returns whether the user reads only columns from `end` on, or is the view through which the rope reads.
bool reads_beside(const Graph& graph, NodeId user, const RotatedColumns& heads) {
  if (user == heads.view) return graph.single_use(user);
  const auto* slice = graph.as<Slice>(user);
  return slice && axis_in(graph, user, slice->axis) == graph.shape(heads.base).rank() - 1 && slice->begin >= heads.end;
}

// Returns the shape of the angles as rows beside the projection's; nullopt if there is not one row for each.
std::optional<Shape> angle_rows(const Graph& graph, NodeId rope, NodeId projection) {
  Shape rows = graph.shape(projection);
  rows[rows.rank() - 1] = graph.shape(rope).back();
  for (size_t i : {1, 2})
    if (graph.shape(graph[rope].operands[i]).product() != rows.product()) return std::nullopt;
  return rows;
}

// rope(heads of the first columns of linear(x), cos, sin)  =>  heads of linear(x, cos, sin, rotated_heads)
//   the linear is plain, nothing else reads those columns, and each of its rows has its own angles, computed before it
bool fuse(Graph& graph, PassContext& context, NodeId rope, const std::vector<uint32_t>& position) {
  auto heads = rotated_columns(graph, rope);
  if (!heads || heads->begin != 0 || !one_angle_for_all_heads(graph, rope)) return false;
  NodeId view = graph[rope].operands[0], cos = graph[rope].operands[1], sin = graph[rope].operands[2];
  const Linear* linear = graph.as<Linear>(heads->base);
  if (!linear || !linear->is_plain() || graph.is_output(heads->base) || !graph.single_use(view)) return false;
  const auto& users = graph[heads->base].users;
  if (!std::all_of(users.begin(), users.end(), [&](NodeId user) { return reads_beside(graph, user, *heads); }))
    return false;
  auto rows = angle_rows(graph, rope, heads->base);
  if (!rows || std::max(position[cos], position[sin]) > position[heads->base]) return false;
  Linear op = *linear;
  op.epilogue.rotated_heads = graph.shape(rope).back(1);
  Insertion here(graph, heads->base);
  std::vector<NodeId> operands = graph[heads->base].operands;
  op.slots.put(operands, LinearSlot::cos, reshaped(graph, cos, *rows, graph[cos].label));
  op.slots.put(operands, LinearSlot::sin, reshaped(graph, sin, *rows, graph[sin].label));
  if (!context.kernel_for(graph, op, operands)) {
    for (LinearSlot slot : {LinearSlot::cos, LinearSlot::sin}) erase_unused(graph, *op.slots.find(operands, slot));
    return false;
  }
  replace(graph, heads->base, op, std::move(operands));
  return replace_with(graph, rope, view);
}

}  // namespace

Status fuse_rope(Graph& graph, PassContext& context) {
  std::vector<uint32_t> position(graph.capacity());
  std::vector<NodeId> order = graph.order();
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<uint32_t>(i);
  size_t fused = 0;
  for (NodeId id : order) fused += graph[id].alive && graph.as<Rope>(id) && fuse(graph, context, id, position);
  if (fused) context.notes.add("{} moved into the projection before", words::counted(fused, "rotary embedding"));
  return {};
}

}  // namespace rung::passes

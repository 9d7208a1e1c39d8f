// Moves rotary embeddings into the projections that make their heads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "passes/move_before.hpp"
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

std::array<NodeId, 2> reshaped_angles(Graph& graph, NodeId rope, const Shape& rows) {
  Insertion here(graph, rope);
  const NodeId cos = graph[rope].operands[1], sin = graph[rope].operands[2];
  return {reshaped(graph, cos, rows, graph[cos].label), reshaped(graph, sin, rows, graph[sin].label)};
}

// rope(heads of the first columns of linear(x), cos, sin)  =>  heads of linear(x, cos, sin, rotated_heads)
//   the linear is plain, nothing else reads those columns, and each of its rows has its own angles, which do not depend
//   on it; what they need moves before it
bool fuse(Graph& graph, PassContext& context, NodeId rope) {
  auto heads = rotated_columns(graph, rope);
  if (!heads || heads->begin != 0 || !one_angle_for_all_heads(graph, rope)) return false;
  const NodeId view = graph[rope].operands[0], base = heads->base;
  const Linear* linear = graph.as<Linear>(base);
  if (!linear || !linear->is_plain() || graph.is_output(base) || !graph.single_use(view)) return false;
  const auto& users = graph[base].users;
  if (!std::all_of(users.begin(), users.end(), [&](NodeId user) { return reads_beside(graph, user, *heads); }))
    return false;
  const auto rows = angle_rows(graph, rope, base);
  if (!rows) return false;
  Linear op = *linear;
  op.epilogue.rotated_heads = graph.shape(rope).back(1);
  std::array<NodeId, 2> angles = reshaped_angles(graph, rope, *rows);
  std::vector<NodeId> operands = graph[base].operands;
  const auto put_angles = [&] {
    op.slots.put(operands, LinearSlot::cos, angles[0]);
    op.slots.put(operands, LinearSlot::sin, angles[1]);
  };
  put_angles();
  if (!context.kernel_for(graph, op, operands) || !move_before(graph, base, angles)) {
    for (const NodeId angle : angles) erase_unused(graph, angle);
    return false;
  }
  put_angles();  // as they are called there
  replace(graph, base, op, std::move(operands));
  return replace_with(graph, rope, view);
}

}  // namespace

Status fuse_rope(Graph& graph, PassContext& context) {
  size_t fused = 0;
  for_each_node(graph, [&](NodeId id) { fused += graph.as<Rope>(id) && fuse(graph, context, id); });
  if (fused) context.notes.add("{} moved into the projection before", words::counted(fused, "rotary embedding"));
  return {};
}

}  // namespace rung::passes

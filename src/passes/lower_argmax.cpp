// Takes the largest element of each row in one sweep, where its place is asked for: top_k sorts.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/words.hpp"
#include "ir/region.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// result(top_k(x, k=1))  =>  region(x, "r1=row_argmax(r0);return r1:i64"), with "r2=row_max(r0)" before it where the
// largest is read, too      x is of floats; both take the first of equal ones, and NaN before numbers
bool find_in_one_sweep(Graph& graph, PassContext& context, NodeId id) {
  const auto* place = graph.as<NthResult>(id);
  const NodeId top = place ? graph[id].operands[0] : kNoNode;
  const auto* op = place ? graph.as<TopK>(top) : nullptr;
  if (!op || op->k != 1 || !is_float(graph.type(top).dtype)) return false;
  const NodeId x = graph[top].operands[0];
  const bool alone = graph.single_use(top);
  const Region region{alone ? "r1=row_argmax(r0);return r1:i64"
                            : fmt::format("r1=row_max(r0);r2=row_argmax(r0);return r1:{},r2:i64", graph.type(x).dtype)};
  if (!context.kernel_for(graph, region, std::array{x})) return false;
  if (alone) return replace(graph, id, region, {x}), true;
  const NodeId both = replace(graph, top, region, {x});
  Insertion here(graph, id);
  return replace_with(graph, id, graph.add(NthResult{1}, {both}, graph[id].label));
}

}  // namespace

Status lower_argmax(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) { lowered += find_in_one_sweep(graph, context, id); });
  if (lowered) context.notes.add("{} found in one sweep", words::counted(lowered, "row's largest", "rows' largest"));
  return {};
}

}  // namespace rung::passes

// Makes products of few rows read weights of 4 bits as their file has them, instead of floats of eight times the size.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/grouped_weight.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Rows of x. Measured with AVX-512 VNNI at [5632,2048] in groups of 32, in floats and in groups: one row 19 -> 3.3 ms,
// 64 rows 242 -> 147.
constexpr int64_t kMostRows = 64;

class GroupKeeper {
 public:
  GroupKeeper(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // linear(x, w)  =>  linear(x, numbers, scales and offsets of groups)      w is a weight of the file in groups, or
  // several with one width of groups, each below the one before; x has few rows
  bool keep(NodeId id) {
    const auto* op = graph_.as<Linear>(id);
    if (!op || op->is_extended() || rows_of(id) > kMostRows) return false;
    std::vector<NodeId> weights;
    if (!add_weights(graph_[id].operands[1], weights) || !are_alike(weights)) return false;
    const Type& w = graph_.type(graph_[id].operands[1]);
    const int64_t rows = w.shape[0], groups = groups_of(weights[0]);
    Linear grouped = *op;
    std::vector<Type> types = graph_.operand_types(id);
    grouped.slots.put(types, LinearSlot::w, Type{DType::u8, {rows, w.shape[1] / 2}});
    grouped.slots.put(types, LinearSlot::group_scale, Type{DType::f32, {rows, groups}});
    grouped.slots.put(types, LinearSlot::group_offset, Type{DType::i8, {rows, groups}});
    if (context_.has_kernel && !context_.has_kernel(grouped, types)) return false;
    Insertion here(graph_, id);
    LinearSlots slots = op->slots;
    std::vector<NodeId> operands = graph_[id].operands;
    slots.put(operands, LinearSlot::w, joined(weights, &GroupedWeight::Groups::numbers));
    slots.put(operands, LinearSlot::group_scale, joined(weights, &GroupedWeight::Groups::scales));
    slots.put(operands, LinearSlot::group_offset, joined(weights, &GroupedWeight::Groups::offsets));
    replace(graph_, id, grouped, std::move(operands));
    return true;
  }

 private:
  const GroupedWeight* grouped(NodeId id) const {
    return graph_.is_constant(id) ? dynamic_cast<const GroupedWeight*>(graph_.weight(id).get()) : nullptr;
  }

  // Adds the weights of which w consists, one below the other.
  bool add_weights(NodeId w, std::vector<NodeId>& weights) const {
    if (grouped(w)) return weights.push_back(w), true;
    const auto* concat = graph_.as<Concat>(w);
    if (!concat || concat->axis != 0) return false;
    return std::ranges::all_of(graph_[w].operands,
                               [&](NodeId part) { return grouped(part) && (weights.push_back(part), true); });
  }

  int64_t groups_of(NodeId w) const { return grouped(w)->groups().scales->type().elements() / graph_.shape(w)[0]; }

  bool are_alike(const std::vector<NodeId>& weights) const {
    return std::ranges::all_of(weights, [&](NodeId w) { return groups_of(w) == groups_of(weights[0]); });
  }

  int64_t rows_of(NodeId id) const {
    return graph_.type(id).elements() / std::max<int64_t>(graph_.shape(id).back(), 1);
  }

  NodeId joined(const std::vector<NodeId>& weights, std::shared_ptr<const Weight> GroupedWeight::Groups::*part) {
    std::vector<NodeId> parts;
    for (const NodeId w : weights) {
      const std::shared_ptr<const Weight>& values = grouped(w)->groups().*part;
      const int64_t rows = graph_.shape(w)[0];
      parts.push_back(reshaped(graph_, graph_.constant(values), Shape{rows, values->type().elements() / rows}));
    }
    return parts.size() == 1 ? parts[0] : graph_.add(Concat{.axis = 0}, parts, graph_[weights[0]].label);
  }

  Graph& graph_;
  PassContext& context_;
};

}  // namespace

Status keep_groups(Graph& graph, PassContext& context) {
  GroupKeeper keeper(graph, context);
  size_t kept = 0;
  for_each_node(graph, [&](NodeId id) { kept += keeper.keep(id); });
  if (kept)
    context.notes.add("{} the file's weights of 4 bits", words::counted(kept, "product reads", "products read"));
  return {};
}

}  // namespace rung::passes

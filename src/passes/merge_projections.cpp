// Merges linears that read the same value into one: q, k and v; gate and up.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "passes/constant_copy.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

class Merger {
 public:
  Merger(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {
    position_.resize(graph.capacity());
    uint32_t next = 0;
    for (NodeId id : graph.order()) position_[id] = next++;
  }

  // linear(x, w1), linear(x, w2)  =>  slices of linear(x, concat(w1, w2))
  // The weights, and their scales if they have any, are constants; types, activations and precision agree; the rows are
  // in the author's order.
  size_t merge_readers_of(NodeId x) {
    std::vector<NodeId> group;
    for (NodeId user : graph_[x].users)
      if (user < position_.size() && is_candidate(user, x)) group.push_back(user);
    std::sort(group.begin(), group.end(), [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
    if (group.size() < 2) return 0;
    std::erase_if(group, [&, first = group[0]](NodeId id) { return !agree(first, id); });
    return group.size() >= 2 && merge(group, x) ? group.size() : 0;
  }

 private:
  bool is_candidate(NodeId id, NodeId x) const {
    const auto* linear = graph_.as<Linear>(id);
    if (!linear || !linear->is_within({LinearSlot::bias, LinearSlot::scale}) || linear->epilogue != Linear::Epilogue{})
      return false;
    const std::vector<NodeId>& operands = graph_[id].operands;
    return operands[0] == x && std::all_of(operands.begin() + 1, operands.end(),
                                           [&](NodeId o) { return o < constant_.size() && constant_[o]; });
  }

  // A linear without a bias agrees with one that has one: its part of the bias is zeros.
  bool agree(NodeId a, NodeId b) const {
    Linear first = *graph_.as<Linear>(a), second = *graph_.as<Linear>(b);
    if (first.has(LinearSlot::scale) != second.has(LinearSlot::scale)) return false;
    first.slots = second.slots = {};
    const NodeId first_bias = bias_of(a), second_bias = bias_of(b);
    const auto same_type = [&](NodeId x, NodeId y) { return graph_.type(x).dtype == graph_.type(y).dtype; };
    return first == second && context_.same_precision(graph_, a, b) &&
           same_type(graph_[a].operands[1], graph_[b].operands[1]) &&
           (first_bias == kNoNode || second_bias == kNoNode || same_type(first_bias, second_bias));
  }

  NodeId bias_of(NodeId linear) const {
    const NodeId* bias = graph_.as<Linear>(linear)->slots.find(graph_[linear].operands, LinearSlot::bias);
    return bias ? *bias : kNoNode;
  }

  // Returns the biases of the group, with zeros for linears that have none; empty: none has one.
  std::vector<NodeId> biases_of(const std::vector<NodeId>& group) {
    const auto with = std::ranges::find_if(group, [&](NodeId id) { return bias_of(id) != kNoNode; });
    if (with == group.end()) return {};
    const DType dtype = graph_.type(bias_of(*with)).dtype;
    std::vector<NodeId> biases;
    for (NodeId id : group)
      biases.push_back(bias_of(id) != kNoNode ? bias_of(id) : zeros({dtype, {graph_.shape(id).back()}}));
    return biases;
  }

  // Groups are not merged in the order in which they stand: what they share stands before all else, in the order in
  // which it is made.
  NodeId place_of_shared() const { return last_shared_ == kNoNode ? graph_.first() : graph_[last_shared_].next; }

  NodeId zeros(const Type& type) {
    const auto [it, added] = zeros_.try_emplace({type.dtype, type.shape.back()}, kNoNode);
    if (!added) return it->second;
    const Insertion before_all(graph_, place_of_shared());
    it->second = graph_.literal("no_bias", convert(Tensor({DType::f32, type.shape}), type.dtype));
    return last_shared_ = it->second;
  }

  // Concatenates weights or biases of a group, which all depend on constants only. Groups of the same weights share it.
  NodeId concat_of(const std::vector<NodeId>& parts, const std::string& label) {
    if (auto it = merged_.find(parts); it != merged_.end()) return it->second;
    const Insertion before_all(graph_, place_of_shared());
    std::vector<NodeId> copies;
    for (NodeId part : parts) copies.push_back(copy_constant(graph_, part, copies_));
    return last_shared_ = merged_[parts] = graph_.add(Concat{0}, std::move(copies), label);
  }

  std::vector<NodeId> parts_of(const std::vector<NodeId>& group, LinearSlot slot) const {
    std::vector<NodeId> parts;
    for (NodeId id : group) parts.push_back(*graph_.as<Linear>(id)->slots.find(graph_[id].operands, slot));
    return parts;
  }

  bool merge(const std::vector<NodeId>& group, NodeId x) {
    Insertion here(graph_, group[0]);
    Linear op = *graph_.as<Linear>(group[0]);
    const std::string label = graph_[group[0]].label;
    const bool is_scaled = op.has(LinearSlot::scale);
    std::vector<NodeId> operands{x, concat_of(parts_of(group, LinearSlot::w), label)};
    op.slots = {};
    if (is_scaled) op.slots.put(operands, LinearSlot::scale, concat_of(parts_of(group, LinearSlot::scale), label));
    if (const auto biases = biases_of(group); !biases.empty())
      op.slots.put(operands, LinearSlot::bias, concat_of(biases, label));
    if (!context_.kernel_for(graph_, op, operands)) return false;
    NodeId all = graph_.add(op, std::move(operands), label);
    int axis = graph_.shape(all).rank() - 1;
    int64_t begin = 0;
    std::vector<NodeId> parts;
    for (NodeId id : group) {
      int64_t end = begin + graph_.shape(id).back();
      parts.push_back(graph_.add(Slice{axis, begin, end, 1}, {all}, graph_[id].label));
      begin = end;
    }
    for (size_t i = 0; i < group.size(); ++i) replace_with(graph_, group[i], parts[i]);
    return true;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::vector<uint32_t> position_;
  std::map<std::vector<NodeId>, NodeId> merged_;
  std::map<NodeId, NodeId> copies_;
  std::map<std::pair<DType, int64_t>, NodeId> zeros_;
  NodeId last_shared_ = kNoNode;
};

}  // namespace

Status merge_projections(Graph& graph, PassContext& context) {
  Merger merger(graph, context);
  std::map<size_t, size_t> sizes;
  for_each_node(graph, [&](NodeId id) {
    if (size_t merged = merger.merge_readers_of(id)) ++sizes[merged];
  });
  for (auto [size, times] : sizes)
    context.notes.add("{}, {} projections of one value became one", words::counted(times, "time"), size);
  return {};
}

}  // namespace rung::passes

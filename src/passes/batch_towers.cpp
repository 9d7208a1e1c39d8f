// Equal towers over different inputs run once over a batch: one vision tower for all cameras.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

using Lanes = std::vector<NodeId>;  // corresponding nodes, one of each tower

class Towers {
 public:
  Towers(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  // concat(f(a), f(b), ...) along axis 1  =>  reshape(f(concat of a, b, ... along axis 0))
  // Every value inside f has a leading dimension of 1 that f treats as a batch, and nothing outside reads it.
  bool batch(NodeId concat, const Lanes& tops) {
    lanes_.clear(), order_.clear(), work_ = 0;
    if (!plan(tops) || work_ == 0 || !is_closed(concat)) return false;
    Insertion here(graph_, concat);
    NodeId all = build_all(tops);
    Shape joined = graph_.shape(all);
    joined[1] *= joined[0], joined[0] = 1;
    splice(concat, tops, graph_.add(Reshape{joined}, {all}, graph_[concat].label));
    leave_to_batch();
    return true;
  }

 private:
  enum class Kind { shared, leaf, inner };
  struct Place {
    Kind kind;
    Lanes lanes;
    NodeId batched = kNoNode;
  };

  bool plan(const Lanes& lanes) {
    if (auto it = lanes_.find(lanes[0]); it != lanes_.end()) return it->second.lanes == lanes;
    bool is_shared = std::all_of(lanes.begin(), lanes.end(), [&](NodeId id) { return id == lanes[0]; });
    const std::optional<Semantics> inner = is_shared ? std::nullopt : inner_semantics(lanes);
    Kind kind = is_shared ? Kind::shared : inner ? Kind::inner : Kind::leaf;
    const Shape& shape = graph_.shape(lanes[0]);
    if (kind != Kind::shared && (shape.rank() < 1 || shape[0] != 1)) return false;
    if (kind == Kind::leaf &&
        !std::all_of(lanes.begin(), lanes.end(), [&](NodeId id) { return graph_.type(id) == graph_.type(lanes[0]); }))
      return false;
    if (inner && !plan_operands(lanes, *inner)) return false;
    lanes_[lanes[0]] = {kind, lanes};
    order_.push_back(lanes[0]);
    work_ += inner && inner->has(OperandRole::product);
    return true;
  }

  // Returns the semantics of an op that is the same in every lane, has one precision, and works on each index of the
  // leading dimension apart, as a batch that an operand's leads to; none: the lanes begin here.
  std::optional<Semantics> inner_semantics(const Lanes& lanes) const {
    const Node& first = graph_[lanes[0]];
    if (as<Input>(first.op) || as<Constant>(first.op) || first.type.shape.rank() < 1) return {};
    for (NodeId id : lanes)
      if (!(graph_[id].op == first.op) || !(graph_[id].type == first.type) ||
          graph_[id].operands.size() != first.operands.size() || !context_.same_precision(graph_, id, lanes[0]))
        return {};
    Semantics semantics = semantics_of(graph_, lanes[0]);
    if (!semantics.is_free(0) || std::ranges::none_of(semantics.operands, may_vary)) return {};
    return semantics;
  }

  // At least one operand must differ by lane: results of shared operands alone have one lane's size.
  bool plan_operands(const Lanes& lanes, const Semantics& semantics) {
    bool varies = false;
    for (size_t i = 0; i < graph_[lanes[0]].operands.size(); ++i) {
      Lanes operands;
      for (NodeId id : lanes) operands.push_back(graph_[id].operands[i]);
      if (!plan(operands)) return false;
      const Place& place = lanes_.at(operands[0]);
      const OperandUse& use = semantics.operands[i];
      if (place.kind == Kind::shared ? !may_share(use) : !may_vary(use)) return false;
      varies = varies || place.kind != Kind::shared;
    }
    return varies;
  }

  static bool leads_to_batch(const AxisRead& read) { return read.leads_to(0); }
  // All lanes may share an operand if none of its axes leads to the batch, or if it broadcasts.
  static bool may_share(const OperandUse& use) {
    return use.broadcasts || std::none_of(use.axes.begin(), use.axes.end(), leads_to_batch);
  }
  // Lanes' operands may be concatenated if their leading dimension, and no other, leads to the batch.
  static bool may_vary(const OperandUse& use) {
    return !use.axes.empty() && use.axes[0].leads_to(0) &&
           std::none_of(use.axes.begin() + 1, use.axes.end(), leads_to_batch);
  }

  // Returns whether no node outside reads a value inside, as such a value would be computed twice.
  bool is_closed(NodeId concat) const {
    std::vector<bool> inside(graph_.capacity());
    for (const auto& [first, place] : lanes_)
      if (place.kind == Kind::inner)
        for (NodeId id : place.lanes) inside[id] = true;
    for (const auto& [first, place] : lanes_) {
      if (place.kind != Kind::inner) continue;
      for (NodeId id : place.lanes) {
        if (graph_.is_output(id)) return false;
        for (NodeId user : graph_[id].users)
          if (user != concat && !inside[user]) return false;
      }
    }
    return true;
  }

  NodeId build_all(const Lanes& tops) {
    auto count = static_cast<int64_t>(tops.size());
    for (NodeId first : order_) {
      Place& place = lanes_.at(first);
      if (place.kind == Kind::shared) {
        place.batched = first;
      } else if (place.kind == Kind::leaf) {
        place.batched = graph_.add(Concat{0}, place.lanes, graph_[first].label);
      } else {
        Op op = graph_[first].op;
        if (auto* reshape = std::get_if<Reshape>(&op)) reshape->shape[0] = count;
        if (auto* broadcast = std::get_if<Broadcast>(&op)) broadcast->shape[0] = count;
        std::vector<NodeId> operands;
        for (NodeId operand : graph_[first].operands) operands.push_back(lanes_.at(operand).batched);
        place.batched = graph_.add(std::move(op), std::move(operands), graph_[first].label);
      }
    }
    return lanes_.at(tops[0]).batched;
  }

  // Puts the joined result in the place of its parts among the concat's operands.
  void splice(NodeId concat, const Lanes& tops, NodeId joined) {
    std::vector<NodeId> parts = graph_[concat].operands;
    auto at = std::search(parts.begin(), parts.end(), tops.begin(), tops.end());
    at = parts.erase(at, at + static_cast<ptrdiff_t>(tops.size()));
    parts.insert(at, joined);
    if (parts.size() == 1)
      replace_with(graph_, concat, joined);
    else
      replace(graph_, concat, Concat{1}, std::move(parts));
  }

  // Each node of each tower has its heir in the batch, not all of them in what joins the towers.
  void leave_to_batch() {
    for (const auto& [first, place] : lanes_)
      for (const NodeId id : place.lanes)
        if (!graph_[id].alive) graph_.set_heir(id, place.batched);
  }

  Graph& graph_;
  const PassContext& context_;
  std::map<NodeId, Place> lanes_;  // by the first lane's node
  std::vector<NodeId> order_;      // operands before users
  int work_ = 0;
};

// Returns the first run of parts that have one type and are different nodes.
Lanes first_run(const Graph& graph, const std::vector<NodeId>& parts) {
  for (size_t begin = 0; begin < parts.size();) {
    size_t end = begin + 1;
    while (end < parts.size() && graph.type(parts[end]) == graph.type(parts[begin]) && parts[end] != parts[begin])
      ++end;
    if (end - begin > 1)
      return Lanes(parts.begin() + static_cast<ptrdiff_t>(begin), parts.begin() + static_cast<ptrdiff_t>(end));
    begin = end;
  }
  return {};
}

}  // namespace

Status batch_towers(Graph& graph, PassContext& context) {
  Towers towers(graph, context);
  for_each_node(graph, [&](NodeId id) {
    const auto* concat = graph.as<Concat>(id);
    if (!concat || graph.shape(id).rank() < 2 || axis_in(graph, id, concat->axis) != 1) return;
    Lanes tops = first_run(graph, graph[id].operands);
    size_t count = tops.size();
    if (count > 1 && towers.batch(id, tops)) context.notes.add("{} towers run as one batch", count);
  });
  return {};
}

}  // namespace rung::passes

// Equal towers over different inputs run once over a batch: one vision tower for all cameras.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

using Lanes = std::vector<NodeId>;  // the same place in each tower

class Towers {
 public:
  explicit Towers(Graph& graph) : graph_(graph) {}

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
    Kind kind = is_shared ? Kind::shared : is_inner(lanes) ? Kind::inner : Kind::leaf;
    const Shape& shape = graph_.shape(lanes[0]);
    if (kind != Kind::shared && (shape.rank() < 1 || shape[0] != 1)) return false;
    if (kind == Kind::leaf &&
        !std::all_of(lanes.begin(), lanes.end(), [&](NodeId id) { return graph_.type(id) == graph_.type(lanes[0]); }))
      return false;
    if (kind == Kind::inner && !plan_operands(lanes)) return false;
    lanes_[lanes[0]] = {kind, lanes};
    order_.push_back(lanes[0]);
    const Op& op = graph_[lanes[0]].op;
    work_ += kind == Kind::inner && (as<Linear>(op) || as<MatMul>(op) || as<Conv2d>(op) || as<Attention>(op));
    return true;
  }

  // The same op in every lane, and one that keeps the leading dimension apart.
  bool is_inner(const Lanes& lanes) const {
    const Node& first = graph_[lanes[0]];
    if (as<Input>(first.op) || as<Constant>(first.op)) return false;
    for (NodeId id : lanes)
      if (!(graph_[id].op == first.op) || !(graph_[id].type == first.type) ||
          graph_[id].operands.size() != first.operands.size())
        return false;
    return keeps_batch(lanes[0]);
  }

  bool keeps_batch(NodeId id) const {
    const Op& op = graph_[id].op;
    int rank = graph_.shape(id).rank();
    auto leads = [&](size_t i) {
      return graph_.shape(graph_[id].operands[i]).rank() >= 1 && graph_.shape(graph_[id].operands[i])[0] == 1;
    };
    if (const auto* r = as<Reshape>(op)) return r->shape.rank() >= 1 && r->shape[0] == 1 && leads(0);
    if (const auto* b = as<Broadcast>(op)) return graph_.shape(graph_[id].operands[0]).rank() == b->shape.rank();
    if (const auto* t = as<Transpose>(op)) return t->permutation[0] == 0;
    if (const auto* s = as<Slice>(op)) return axis_in(graph_, id, s->axis) != 0;
    if (const auto* c = as<Concat>(op)) return axis_in(graph_, id, c->axis) != 0;
    if (const auto* s = as<Softmax>(op)) return axis_in(graph_, id, s->axis) != 0;
    if (const auto* r = as<Reduce>(op)) return axis_in(graph_, graph_[id].operands[0], r->axis) != 0;
    if (as<MatMul>(op)) return rank >= 3;
    if (as<Linear>(op) || as<LayerNorm>(op) || as<RmsNorm>(op) || as<L2Normalize>(op)) return rank >= 2;
    return is_elementwise(op) || as<Conv2d>(op) || as<Im2col>(op) || as<Attention>(op) || as<Rope>(op) ||
           as<GatedMul>(op) || as<Pointwise>(op);
  }

  static bool varies_by_row(const Linear& op, size_t i) {
    int at = static_cast<int>(i);
    return at == op.at(LinearSlot::residual) || at == op.at(LinearSlot::cos) || at == op.at(LinearSlot::sin) ||
           at == op.at(LinearSlot::squares);
  }

  // Which operands broadcast over a batch, so that all lanes can share one; the others must differ by lane.
  bool may_share(NodeId id, size_t i) const {
    const Op& op = graph_[id].op;
    const Shape &operand = graph_.shape(graph_[id].operands[i]), &result = graph_.shape(id);
    if (is_elementwise(op) || as<MatMul>(op) || as<Pointwise>(op))
      return operand.rank() < result.rank() || operand[0] == 1;
    const auto* linear = as<Linear>(op);
    if (linear && varies_by_row(*linear, i)) return false;
    const auto* attention = as<Attention>(op);
    if (attention) return attention->has_mask && i == 1;
    const auto* norm = as<LayerNorm>(op);
    if (norm && norm->has_residual && i == 1) return false;
    return i > 0 && !as<Concat>(op) && !as<GatedMul>(op);
  }

  // Something must differ by lane: the others' results are of one lane's size.
  bool plan_operands(const Lanes& lanes) {
    bool varies = false;
    for (size_t i = 0; i < graph_[lanes[0]].operands.size(); ++i) {
      Lanes operands;
      for (NodeId id : lanes) operands.push_back(graph_[id].operands[i]);
      if (!plan(operands)) return false;
      const Place& place = lanes_.at(operands[0]);
      if (place.kind == Kind::shared ? !may_share(lanes[0], i) : !may_vary(lanes[0], i)) return false;
      varies = varies || place.kind != Kind::shared;
    }
    return varies;
  }

  // Weights, biases and the like cannot differ by lane, and a lower-rank operand's leading dimension is no batch.
  bool may_vary(NodeId id, size_t i) const {
    const Op& op = graph_[id].op;
    const Shape& operand = graph_.shape(graph_[id].operands[i]);
    const auto* linear = as<Linear>(op);
    if (linear) return i == 0 || varies_by_row(*linear, i);
    const auto* norm = as<LayerNorm>(op);
    if (norm) return i == 0 || (norm->has_residual && i == 1);
    if (as<RmsNorm>(op) || as<Conv2d>(op)) return i == 0;
    if (as<Reshape>(op) || as<Reduce>(op)) return true;
    return operand.rank() == graph_.shape(id).rank() || as<Im2col>(op);
  }

  // Nothing outside reads a value inside: no work would be saved, but done twice.
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

  // The joined result takes the place of its parts among the concat's operands.
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

  Graph& graph_;
  std::map<NodeId, Place> lanes_;  // by the first lane's node
  std::vector<NodeId> order_;      // operands before users
  int work_ = 0;
};

// The longest run of parts that have one type and are different nodes.
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
  Towers towers(graph);
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

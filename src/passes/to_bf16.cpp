// Stores what flows between products in bf16, and weights with it; sums, statistics and softmax stay in f32 inside the
// ops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kSmallWeight = int64_t{4} << 20;  // elements

// Which values lie at the model's edge: before the first statistic on every way from an input, or after the last one on
// some way to an output. States that a loop carries (an output is a sum of them) count as outputs.
struct Edges {
  std::vector<bool> head, tail;
  bool at_edge(NodeId id) const { return head[id] || tail[id]; }
};

// Brings its result to a scale of its own, as norms and softmax do, or multiplies two computed values. The length that
// an embedding is divided by at the end is neither: what leads there is the model's edge.
bool is_statistic(const Graph& graph, NodeId id) {
  const Semantics semantics = semantics_of(graph, id);
  const auto products = std::count_if(semantics.operands.begin(), semantics.operands.end(),
                                      [](const OperandUse& use) { return use.role == OperandRole::product; });
  return products > 1 || (semantics.has(OperandRole::statistic) && !graph.as<L2Normalize>(id));
}

Edges find_edges(const Graph& graph) {
  Edges edges{std::vector<bool>(graph.capacity()), std::vector<bool>(graph.capacity())};
  std::vector<bool> statistic(graph.capacity());
  bool any = false;
  for (NodeId id : graph.order()) any |= statistic[id] = is_statistic(graph, id);
  if (!any) return edges;  // all would be edge
  for (NodeId id = graph.last(); id != kNoNode; id = graph[id].previous) {
    const auto& users = graph[id].users;
    bool near_output =
        graph.is_output(id) || std::any_of(users.begin(), users.end(), [&](NodeId u) { return edges.tail[u]; });
    edges.tail[id] = near_output && !statistic[id];
  }
  std::vector<bool> constant = constant_nodes(graph);
  for (NodeId id : graph.order()) {
    const auto& operands = graph[id].operands;
    edges.head[id] = constant[id] || (!statistic[id] && std::all_of(operands.begin(), operands.end(), [&](NodeId o) {
                       return edges.head[o] || edges.tail[o];
                     }));
  }
  return edges;
}

class Narrower {
 public:
  explicit Narrower(Graph& graph) : graph_(graph), edges_(find_edges(graph)), constant_(constant_nodes(graph)) {}

  // f: f32 -> f32  =>  f: bf16 -> bf16      f accumulates in f32 either way, and is not at the model's edge
  size_t run() {
    std::vector<NodeId> order = graph_.order();
    values_.resize(graph_.capacity(), kNoNode);
    size_t narrowed = 0;
    for (NodeId id : order) {
      values_[id] = id;
      if (graph_[id].operands.empty() || constant_[id]) continue;
      bool narrow = becomes_narrow(id);
      if (narrow)
        values_[id] = rebuild(id);
      else
        keep(id);
      narrowed += narrow;
    }
    for (const Output& output : std::vector<Output>(graph_.outputs()))
      graph_.set_output(output.name, value(output.node, graph_.type(output.node).dtype));
    return narrowed;
  }

 private:
  bool is_narrow(NodeId old) const { return graph_.type(values_[old]).dtype == DType::bf16; }

  // A product with few weights at the model's edge is worth its accuracy.
  bool is_edge_product(NodeId id, const Semantics& semantics) const {
    const auto& uses = semantics.operands;
    const auto weights =
        std::find_if(uses.begin(), uses.end(), [](const OperandUse& use) { return use.role == OperandRole::weights; });
    if (weights == uses.end() || !edges_.at_edge(id)) return false;
    const NodeId operand = graph_[id].operands[static_cast<size_t>(weights - uses.begin())];
    return graph_.type(operand).elements() <= kSmallWeight;
  }

  bool becomes_narrow(NodeId id) const {
    if (graph_.type(id).dtype != DType::f32) return false;
    const Semantics semantics = semantics_of(graph_, id);
    const Narrowing narrowing = narrowing_of(graph_[id].op);
    if (narrowing == Narrowing::products) return !is_edge_product(id, semantics);
    if (narrowing == Narrowing::norm) return !graph_.is_output(id) && !feeds_tail_only(id);
    if (narrowing == Narrowing::stays || edges_.at_edge(id)) return false;
    size_t wide = 0, narrow = 0;
    for (size_t i = 0; i < semantics.operands.size(); ++i) {
      const NodeId operand = graph_[id].operands[i];
      if (semantics.operands[i].role != OperandRole::data || !is_float(graph_.type(operand).dtype)) continue;
      ++(is_narrow(operand) ? narrow : wide);
    }
    if (narrowing == Narrowing::converts && feeds_softmax(id)) return false;
    return narrow > 0 && (wide == 0 || narrowing == Narrowing::with_any);
  }

  bool feeds_tail_only(NodeId id) const {
    const auto& users = graph_[id].users;
    return std::all_of(users.begin(), users.end(), [&](NodeId u) { return edges_.tail[u]; });
  }
  bool feeds_softmax(NodeId id) const {
    const auto& users = graph_[id].users;
    return std::any_of(users.begin(), users.end(), [&](NodeId u) { return graph_.as<Softmax>(u) != nullptr; });
  }

  // The value that took the old node's place, in that dtype.
  NodeId value(NodeId old, DType dtype) {
    NodeId now = values_[old];
    if (graph_.type(now).dtype == dtype) return now;
    auto [it, is_new] = casts_.try_emplace({now, dtype}, kNoNode);
    if (is_new) {
      Insertion after(graph_, graph_[now].next);
      const auto* widened = graph_.as<Cast>(now);
      NodeId source = widened ? graph_[now].operands[0] : now;
      bool undone = widened && graph_.type(source).dtype == dtype && dtype == DType::bf16;  // f32 holds every bf16
      it->second = undone ? source : graph_.add(Cast{dtype}, {now}, graph_[now].label);
    }
    return it->second;
  }

  // Operands keep the types that the node was built for, but for those that it accepts in any float type.
  void keep(NodeId id) {
    const Semantics semantics = semantics_of(graph_, id);
    for (size_t i = 0; i < graph_[id].operands.size(); ++i) {
      NodeId old = graph_[id].operands[i];
      NodeId wanted = semantics.operands[i].any_float ? values_[old] : value(old, graph_.type(old).dtype);
      if (wanted != old) graph_.set_operand(id, i, wanted);
    }
  }

  NodeId rebuild(NodeId id) {
    Op op = graph_[id].op;
    const std::vector<NodeId> old = graph_[id].operands;
    const Semantics semantics = semantics_of(graph_, id);
    std::vector<NodeId> operands;
    for (size_t i = 0; i < old.size(); ++i)
      operands.push_back(value(old[i], operand_dtype(old[i], semantics.operands[i])));
    if (as<Cast>(op)) return operands[0];
    if (DType* out = result_dtype(op)) *out = DType::bf16;
    Insertion here(graph_, id);
    return graph_.add(std::move(op), std::move(operands), graph_[id].label);
  }

  // Products read bf16, and what is moved or computed element by element is; the others stay as they are.
  DType operand_dtype(NodeId old, const OperandUse& use) const {
    const DType now = graph_.type(values_[old]).dtype;
    if (use.role == OperandRole::mask) return DType::f32;
    const bool narrows = use.is_product() || (use.role == OperandRole::data && !use.any_float);
    return narrows && is_float(now) ? DType::bf16 : now;
  }

  Graph& graph_;
  Edges edges_;
  std::vector<bool> constant_;
  std::vector<NodeId> values_;
  std::map<std::pair<NodeId, DType>, NodeId> casts_;
};

}  // namespace

Status to_bf16(Graph& graph, PassContext& context) {
  if (context.precision != DType::bf16) return {};
  size_t narrowed = Narrower(graph).run();
  if (narrowed) context.notes.add("{} stored in bf16", words::counted(narrowed, "value is", "values are"));
  return {};
}

}  // namespace rung::passes

// Narrows the parts of a model that the precision names: the operands of their products, weights included, and the
// values that they store. Sums, statistics and softmax stay in f32 inside the ops; casts join parts of two dtypes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kSmallWeight = int64_t{4} << 20;  // elements

// The values at the model's edge: before the first statistic on every way from an input (head), or after the last one
// on some way to an output (tail). States that a loop carries (an output is a sum of them) count as outputs.
struct Edges {
  std::vector<bool> head, tail;
  bool at_edge(NodeId id) const { return head[id] || tail[id]; }
};

// Returns whether the op brings its result to a scale of its own, as norms and softmax do, or is a product without
// weights. An embedding's division by its length at the end is neither: the values before it are the model's edge.
bool is_statistic(const Graph& graph, NodeId id) {
  const Semantics semantics = semantics_of(graph, id);
  const auto products = std::count_if(semantics.operands.begin(), semantics.operands.end(),
                                      [](const OperandUse& use) { return use.role == OperandRole::product; });
  return products > 1 || (semantics.has(OperandRole::statistic) && !graph.as<L2Normalize>(id));
}

// Returns whether a value leaves the run as a result does. A cache of rows does not: what later runs read there is what
// this one reads.
bool leaves(const Graph& graph, NodeId id) {
  if (!graph.is_output(id)) return false;
  const auto* scatter = graph.as<Scatter>(id);
  const bool keeps_rows = scatter && scatter->kind == ScatterKind::set && !graph[id].users.empty();
  return !keeps_rows || !std::ranges::all_of(graph.outputs(), [&](const Output& output) {
    return output.node != id || graph.is_next(output.name);
  });
}

Edges find_edges(const Graph& graph) {
  Edges edges{std::vector<bool>(graph.capacity()), std::vector<bool>(graph.capacity())};
  std::vector<bool> statistic(graph.capacity());
  bool any = false;
  for (NodeId id : graph.order()) any |= statistic[id] = is_statistic(graph, id);
  if (!any) return edges;  // else all values would be at the edge
  for (NodeId id = graph.last(); id != kNoNode; id = graph[id].previous) {
    const auto& users = graph[id].users;
    bool near_output =
        leaves(graph, id) || std::any_of(users.begin(), users.end(), [&](NodeId u) { return edges.tail[u]; });
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

// The dtype in which a node reads the operands that it multiplies, moves or computes with, and its result's dtype.
struct Form {
  DType reads = DType::f32, stores = DType::f32;
  bool is_wide() const { return reads == DType::f32 && stores == DType::f32; }
};

class Narrower {
 public:
  Narrower(Graph& graph, const Precision& precision)
      : graph_(graph), precision_(precision), edges_(find_edges(graph)), constant_(constant_nodes(graph)) {}

  // f: f32 -> f32  =>  f: narrow -> narrow      f accumulates in f32 either way, and is not at the model's edge
  void run() {
    std::vector<NodeId> order = graph_.order();
    values_.resize(graph_.capacity(), kNoNode);
    for (NodeId id : order) {
      values_[id] = id;
      if (graph_[id].operands.empty() || constant_[id]) continue;
      const Form form = form_of(id);
      values_[id] = in_form(id, form);
      if (form.stores != DType::f32)
        ++stored_[form.stores];
      else if (form.reads != DType::f32)
        ++read_[form.reads];
    }
    for (const Output& output : std::vector<Output>(graph_.outputs()))
      graph_.set_output(output.name, value(output.node, graph_.type(output.node).dtype));
  }

  void account_to(Notes& notes) const {
    for (const auto& [dtype, count] : stored_)
      notes.add("{} stored in {}", words::counted(count, "value is", "values are"), dtype);
    for (const auto& [dtype, count] : read_)
      notes.add("{} {} and {} f32", words::counted(count, "product reads", "products read"), dtype,
                count == 1 ? "stores" : "store");
  }

 private:
  // A product at the model's edge stays in f32 if it has few weights: they cost little, and its accuracy counts.
  bool is_edge_product(NodeId id, const Semantics& semantics) const {
    const auto& uses = semantics.operands;
    const auto weights =
        std::find_if(uses.begin(), uses.end(), [](const OperandUse& use) { return use.role == OperandRole::weights; });
    if (weights == uses.end() || !edges_.at_edge(id)) return false;
    const NodeId operand = graph_[id].operands[static_cast<size_t>(weights - uses.begin())];
    return graph_.type(operand).elements() <= kSmallWeight;
  }

  // Returns whether the op multiplies computed values: scores, and the values that they weigh, in one op or in several.
  bool multiplies_computed(NodeId id, const Semantics& semantics) const {
    for (size_t i = 0; i < semantics.operands.size(); ++i) {
      const OperandUse& use = semantics.operands[i];
      if (use.role == OperandRole::weights || (use.is_product() && constant_[graph_[id].operands[i]])) return false;
    }
    return true;
  }

  Form form_of(NodeId id) const {
    if (graph_.type(id).dtype != DType::f32) return {};
    if (const auto* conv = graph_.as<Conv>(id); conv && conv->is_of_integers()) return {};
    const Semantics semantics = semantics_of(graph_, id);
    const LabelPrecision asked = precision_at(precision_, graph_[id].label);
    switch (narrowing_of(graph_[id].op)) {
      case Narrowing::stays:
        return {};
      case Narrowing::products:
        return product_form(id, semantics, asked);
      case Narrowing::norm:
        return {.stores = may_store_narrow(id) ? asked.values : DType::f32};
      default:
        return flows_in(id, semantics, asked.values) ? Form{asked.values, asked.values} : Form{};
    }
  }

  // An op without a result type of its own stores its operands' dtype.
  Form product_form(NodeId id, const Semantics& semantics, const LabelPrecision& asked) const {
    if (is_edge_product(id, semantics)) return {};
    const DType reads = multiplies_computed(id, semantics) ? asked.attention : asked.unquantised();
    if (reads == DType::f32) return {.stores = edges_.at_edge(id) || !may_store_narrow(id) ? DType::f32 : asked.values};
    Op op = graph_[id].op;
    return {reads, result_dtype(op) ? asked.values : reads};
  }

  bool may_store_narrow(NodeId id) const { return !graph_.is_output(id) && !feeds_tail_only(id); }

  // Returns whether the op moves values of that dtype, or computes with them element by element, once its operands are
  // narrowed.
  bool flows_in(NodeId id, const Semantics& semantics, DType dtype) const {
    if (dtype == DType::f32 || edges_.at_edge(id)) return false;
    size_t wide = 0, narrow = 0;
    for (size_t i = 0; i < semantics.operands.size(); ++i) {
      const NodeId operand = graph_[id].operands[i];
      if (semantics.operands[i].role != OperandRole::data || !is_float(graph_.type(operand).dtype)) continue;
      ++(graph_.type(values_[operand]).dtype == dtype ? narrow : wide);
    }
    const Narrowing narrowing = narrowing_of(graph_[id].op);
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

  // Returns the value that took the old node's place, in that dtype.
  NodeId value(NodeId old, DType dtype) {
    NodeId now = values_[old];
    if (graph_.type(now).dtype == dtype) return now;
    auto [it, is_new] = casts_.try_emplace({now, dtype}, kNoNode);
    if (is_new) {
      Insertion after(graph_, graph_[now].next);
      NodeId source = graph_.as<Cast>(now) ? graph_[now].operands[0] : now;
      const bool widened = size_of(dtype) < size_of(graph_.type(now).dtype);  // then nothing was rounded
      bool undone = widened && source != now && graph_.type(source).dtype == dtype;
      it->second = undone ? source : graph_.add(Cast{dtype}, {now}, graph_[now].label);
    }
    return it->second;
  }

  // Brings a node into its form. A product that reads f32 and stores less becomes two ops, as few kernels do both.
  NodeId in_form(NodeId id, const Form& form) {
    if (form.is_wide()) return keep(id);
    const bool reads_wide = form.reads == DType::f32 && narrowing_of(graph_[id].op) == Narrowing::products;
    return reads_wide ? value(keep(id), form.stores) : rebuild(id, form);
  }

  // Keeps the node, and gives its operands the types that it was built for, except operands of any float type.
  NodeId keep(NodeId id) {
    const Semantics semantics = semantics_of(graph_, id);
    for (size_t i = 0; i < graph_[id].operands.size(); ++i) {
      NodeId old = graph_[id].operands[i];
      NodeId wanted = semantics.operands[i].any_float ? values_[old] : value(old, graph_.type(old).dtype);
      if (wanted != old) graph_.set_operand(id, i, wanted);
    }
    return id;
  }

  NodeId rebuild(NodeId id, const Form& form) {
    Op op = graph_[id].op;
    const std::vector<NodeId> old = graph_[id].operands;
    const Semantics semantics = semantics_of(graph_, id);
    std::vector<NodeId> operands;
    for (size_t i = 0; i < old.size(); ++i)
      operands.push_back(value(old[i], operand_dtype(old[i], semantics.operands[i], form.reads)));
    if (as<Cast>(op)) return operands[0];
    if (DType* out = result_dtype(op)) *out = form.stores;
    Insertion here(graph_, id);
    return graph_.add(std::move(op), std::move(operands), graph_[id].label);
  }

  // Operands of products, and data that an op moves or computes with element by element, are narrowed; others stay.
  DType operand_dtype(NodeId old, const OperandUse& use, DType reads) const {
    const DType now = graph_.type(values_[old]).dtype;
    if (use.role == OperandRole::mask) return DType::f32;
    const bool narrows = use.is_product() || (use.role == OperandRole::data && !use.any_float);
    return narrows && is_float(now) ? reads : now;
  }

  Graph& graph_;
  const Precision& precision_;
  Edges edges_;
  std::vector<bool> constant_;
  std::vector<NodeId> values_;
  std::map<std::pair<NodeId, DType>, NodeId> casts_;
  std::map<DType, size_t> stored_, read_;  // counts of nodes with narrowed results, and with only narrowed operands
};

}  // namespace

Status narrow_parts(Graph& graph, PassContext& context) {
  if (narrowest(context.precision) == DType::f32) return {};
  Narrower narrower(graph, context.precision);
  narrower.run();
  narrower.account_to(context.notes);
  return {};
}

}  // namespace rung::passes

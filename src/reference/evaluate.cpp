// Evaluates the nodes that the wanted values need, in order, and frees each value after its last reader.
// SPDX-License-Identifier: Apache-2.0
#include "reference/evaluate.hpp"

#include <unordered_map>

#include "ir/with_type.hpp"
#include "reference/operations.hpp"

namespace rung {
namespace {

using Inputs = std::map<std::string, Tensor, std::less<>>;

// The nodes that some targets depend on: each once, operands before readers, with the number of reads still to come.
class Ancestry {
 public:
  Ancestry(const Graph& graph, std::span<const NodeId> targets) : graph_(graph) {
    for (NodeId target : targets) {
      visit(target);
      ++reads_[target];  // the caller's read
    }
  }
  const std::vector<NodeId>& order() const { return order_; }
  // Counts one read of `node`; returns whether it was the last.
  bool last_read(NodeId node) { return --reads_[node] == 0; }

 private:
  // Goes depth first with its own stack: graphs may be deeper than the call stack allows.
  void visit(NodeId target) {
    struct Frame {
      NodeId node;
      size_t next;
    };
    if (!reads_.try_emplace(target, 0).second) return;
    std::vector<Frame> stack{{target, 0}};
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const auto& operands = graph_[node].operands;
      if (next == operands.size()) {
        order_.push_back(node);
        stack.pop_back();
        continue;
      }
      NodeId operand = operands[next++];
      auto [reads, first] = reads_.try_emplace(operand, 0);
      ++reads->second;
      if (first) stack.push_back({operand, 0});
    }
  }

  const Graph& graph_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, int> reads_;
};

class Evaluation {
 public:
  // If `inputs` is null, a node that reads an input is an error.
  Evaluation(const Graph& graph, const Inputs* inputs, EvaluateOptions options = {})
      : graph_(graph), inputs_(inputs), options_(std::move(options)) {}

  Result<std::vector<Tensor>> run(std::span<const NodeId> targets) {
    Ancestry ancestry(graph_, targets);
    for (NodeId id : ancestry.order()) {
      if (is_source(id)) continue;  // fetched when first read
      RUNG_CHECK(check_interrupted(options_.interrupted));
      RUNG_TRY(std::vector<Tensor> results, compute(id));
      for (NodeId operand : graph_[id].operands)
        if (ancestry.last_read(operand)) values_.erase(operand);
      values_.insert_or_assign(id, std::move(results));
    }
    std::vector<Tensor> found;
    for (NodeId target : targets) {
      RUNG_TRY(Tensor value, fetch(target));
      found.push_back(std::move(value));
    }
    return found;
  }

 private:
  bool is_source(NodeId id) const { return graph_.is_constant(id) || graph_.as<Input>(id); }

  Result<std::vector<Tensor>> compute(NodeId id) {
    const Node& node = graph_[id];
    if (const auto* further = graph_.as<NthResult>(id))
      return std::vector<Tensor>{values_.at(node.operands[0])[static_cast<size_t>(further->index)]};
    std::vector<Tensor> operands;
    for (NodeId operand : node.operands) {
      RUNG_TRY(Tensor value, fetch(operand));
      operands.push_back(std::move(value));
    }
    if (options_.change) options_.change(id, operands);
    auto results = evaluate_results(node.op, operands, node.type);
    if (!results && !node.label.empty()) return fail_in(results.error(), "{}", node.label);
    return results;
  }

  Result<Tensor> fetch(NodeId id) {
    if (auto known = values_.find(id); known != values_.end()) return known->second[0];
    RUNG_TRY(Tensor value, graph_.is_constant(id) ? load(id) : input(id));
    values_.emplace(id, std::vector<Tensor>{value});
    return value;
  }

  Result<Tensor> load(NodeId id) {
    const auto& weight = graph_.weight(id);
    RUNG_TRY(Tensor value, weight->load());
    if (value.type() != graph_.type(id))
      return fail("weight '{}': got {}, wanted {}", weight->name(), value.type(), graph_.type(id));
    return value;
  }

  Result<Tensor> input(NodeId id) {
    const std::string& name = graph_.as<Input>(id)->name;
    if (!inputs_) return fail("the value depends on input '{}', wanted constants only", name);
    auto found = inputs_->find(name);
    if (found == inputs_->end()) return mismatch("input '{}' is missing, wanted {}", name, graph_.type(id));
    if (found->second.type() != graph_.type(id))
      return mismatch("input '{}': got {}, wanted {}", name, found->second.type(), graph_.type(id));
    return found->second;
  }

  const Graph& graph_;
  const Inputs* inputs_;
  EvaluateOptions options_;
  std::unordered_map<NodeId, std::vector<Tensor>> values_;  // all results of each node
};

// Computes all results of an op that computes them together; none: it computes each by itself.
std::optional<std::vector<Tensor>> compute_results(const Op& op, const reference::Arguments& arguments) {
  const auto* quantize = as<Quantize>(op);
  if (!quantize || quantize->group == 0) return std::nullopt;
  return reference::compute_together(*quantize, arguments);
}

// Computes result number `i` of the op; its type is in `arguments`.
Result<Tensor> compute_result(const Op& op, const reference::Arguments& arguments, size_t i) {
  return std::visit(
      [&](const auto& which) {
        if constexpr (requires { which.kMostResults; })
          if (i > 0) return reference::compute_further(which, arguments, i);
        return reference::compute(which, arguments);
      },
      op);
}

}  // namespace

namespace reference {

Result<Tensor> compute(const Input& op, const Arguments&) {
  return fail("input '{}' has no value of its own", op.name);
}
Result<Tensor> compute(const Constant& op, const Arguments&) {
  return fail("constant '{}' has its value in the graph, not in the op", op.name);
}

Result<Tensor> compute(const NthResult&, const Arguments&) {
  return fail("its value is the op's that it reads, not its own");
}

}  // namespace reference

Result<std::vector<Tensor>> evaluate_results(const Op& op, const std::vector<Tensor>& operands, const Type& result) {
  std::vector<Type> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  RUNG_TRY(Type inferred, infer_type(op, types));
  if (inferred != result) return fail("{}: got result type {}, wanted {}", name_of(op), result, inferred);
  const std::vector<Type> of_results = result_types(op, types, result);
  if (auto together = compute_results(op, {operands, of_results[0]})) return std::move(*together);
  std::vector<Tensor> results;
  for (size_t i = 0; i < of_results.size(); ++i) {
    auto value = compute_result(op, {operands, of_results[i]}, i);
    if (!value) return fail_in(value.error(), "{}", name_of(op));
    results.push_back(std::move(*value));
  }
  return results;
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, const Inputs& inputs, const EvaluateOptions& options) {
  std::vector<NodeId> targets;
  for (const Output& output : graph.outputs()) targets.push_back(output.node);
  return Evaluation(graph, &inputs, options).run(targets);
}

Result<std::vector<Tensor>> evaluate_constants(const Graph& graph, std::span<const NodeId> nodes) {
  return Evaluation(graph, nullptr).run(nodes);
}

Result<Tensor> evaluate_constant(const Graph& graph, NodeId node) {
  RUNG_TRY(std::vector<Tensor> values, evaluate_constants(graph, std::span(&node, 1)));
  return values.front();
}

}  // namespace rung

// Writes a model's forward pass into a graph, one node per call that its author makes; importers are written with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/checkpoint.hpp"
#include "ir/graph.hpp"

namespace rung::huggingface {

// One of the author's modules: the name of its tensors in the checkpoint, and what its nodes are labelled.
struct Module {
  std::string tensors;
  std::string label;
  Module child(std::string_view name) const;
  std::string tensor(std::string_view name) const { return child(name).tensors; }
};

class GraphWriter {
 public:
  GraphWriter(Graph& target, const Checkpoint& checkpoint) : graph(target), checkpoint_(checkpoint) {}
  Graph& graph;

  // ---- constants. A weight is fetched once; mistakes are collected for finish().
  NodeId weight(const std::string& name, const Shape& shape, DType as);
  // The float type a tensor is stored in; f32 if it is missing (weight() will tell).
  DType stored_dtype(const std::string& name, const Shape& shape);
  NodeId scalar(double value, DType dtype);

  // ---- calls. Type errors can only be our own bugs: configs are validated first.
  NodeId op(Op op, std::vector<NodeId> operands, const std::string& label) {
    return graph.add(std::move(op), std::move(operands), label);
  }
  NodeId unary(UnaryKind kind, NodeId x, const std::string& label) { return op(Unary{kind}, {x}, label); }
  NodeId binary(BinaryKind kind, NodeId a, NodeId b, const std::string& label) {
    return op(Binary{kind}, {a, b}, label);
  }
  NodeId reshape(NodeId x, const Shape& shape, const std::string& label) { return op(Reshape{shape}, {x}, label); }
  NodeId swap_axes(NodeId x, int a, int b, const std::string& label);
  // No node where x has that type already, as torch's .to().
  NodeId cast(NodeId x, DType to, const std::string& label);
  // x times a number: computed in f32 and rounded once, as torch multiplies a narrow tensor by a Python scalar.
  NodeId scale(NodeId x, double factor, const std::string& label);

  // ---- modules. Weights are used in x's type.
  NodeId linear(const Module& module, NodeId x, int64_t out_features, bool bias = true);
  NodeId layer_norm(const Module& module, NodeId x, float eps);
  NodeId split_heads(NodeId x, int64_t heads, const std::string& label);  // [B,S,H*D] -> [B,H,S,D]
  NodeId merge_heads(NodeId x, const std::string& label);                 // the inverse

  // One error for all missing, misshapen and unexpected tensors; unread ones that `may_ignore` accepts become a note.
  Result<std::vector<std::string>> finish(const std::function<bool(const std::string& name)>& may_ignore) const;

 private:
  std::shared_ptr<const Weight> fetch(const std::string& name, const Shape& shape);

  const Checkpoint& checkpoint_;
  std::unordered_map<std::string, NodeId> weights_;
  std::unordered_map<std::string, NodeId> scalars_;
  std::set<std::string> used_;
  std::vector<std::string> mistakes_;
};

}  // namespace rung::huggingface

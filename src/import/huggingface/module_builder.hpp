// Builds the graph of a model of transformers, module by module.
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
#include "import/graph_builder.hpp"

namespace rung::huggingface {

// A module of the author's: the name of its tensors in the checkpoint, and the label of its nodes.
struct Module {
  std::string tensors;
  std::string label;
  // The same name for both.
  static Module of(const std::string& name) { return {name, name}; }
  Module child(std::string_view name) const;
  std::string tensor(std::string_view name) const { return child(name).tensors; }
};

// The tensors of a linear layer that no one module names.
struct LinearTensors {
  std::string weight, bias;  // no bias: empty
  std::string label;
};

// Adds the ops of modules, with their weights from a checkpoint.
class ModuleBuilder : public GraphBuilder {
 public:
  ModuleBuilder(Graph& target, const Checkpoint& checkpoint) : GraphBuilder(target), checkpoint_(checkpoint) {}

  // ---- weights, each fetched once; mistakes are collected for finish().
  NodeId weight(const std::string& name, const Shape& shape, DType as);
  // Returns the float type that a tensor is stored in; f32 if it is missing (weight() reports it).
  DType stored_dtype(const std::string& name, const Shape& shape);

  // Returns zeros, in place of a bias that a module has not.
  NodeId zeros(const Shape& shape, DType dtype) { return op(Broadcast{shape}, {scalar(0.0, dtype)}, "zeros"); }

  // ---- modules. Weights are used in x's type.
  NodeId linear(const Module& module, NodeId x, int64_t out_features, bool bias = true);
  NodeId linear(const LinearTensors& tensors, NodeId x, int64_t out_features);
  NodeId layer_norm(const Module& module, NodeId x, float eps, bool bias = true);
  NodeId split_heads(NodeId x, int64_t heads, const std::string& label);  // [B,S,H*D] -> [B,H,S,D]
  NodeId merge_heads(NodeId x, const std::string& label);                 // the inverse
  NodeId token(NodeId x, int64_t at, const std::string& label);           // [B,S,D] -> [B,D]

  // Gives one error for all missing, misshapen and unexpected tensors; unread ones that `may_ignore` takes are a note.
  Result<std::vector<std::string>> finish(const std::function<bool(const std::string& name)>& may_ignore) const;

 private:
  std::shared_ptr<const Weight> fetch(const std::string& name, const Shape& shape);

  const Checkpoint& checkpoint_;
  std::unordered_map<std::string, NodeId> weights_;
  std::set<std::string> used_;
  std::vector<std::string> mistakes_;
};

}  // namespace rung::huggingface

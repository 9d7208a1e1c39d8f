// Builds a model's graph, one node per call that its author makes; every importer is written with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.hpp"

namespace rung {

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& target) : graph(target) {}
  Graph& graph;

  // Adds the value of `op` under a label, which is the author's name for the call with its scopes: "layer.0.attention".
  // If all operands are small constants at hand, it adds the result as a literal: arithmetic on shapes is done here,
  // for callers that want its result as a number. Errors: "LABEL: OP: got ..., wanted ...".
  Result<NodeId> add(Op op, std::vector<NodeId> operands, const std::string& label);
  // Does the same for importers whose operands are right by construction: an error is a bug, and asserts.
  NodeId op(Op op, std::vector<NodeId> operands, const std::string& label);

  NodeId scalar(double value, DType dtype);  // one node for each value
  NodeId unary(UnaryKind kind, NodeId x, const std::string& label) { return op(Unary{kind}, {x}, label); }
  NodeId binary(BinaryKind kind, NodeId a, NodeId b, const std::string& label) {
    return op(Binary{kind}, {a, b}, label);
  }
  NodeId reshape(NodeId x, const Shape& shape, const std::string& label) { return op(Reshape{shape}, {x}, label); }
  NodeId swap_axes(NodeId x, int a, int b, const std::string& label);
  // Adds no node if x has that type already, as torch's .to().
  NodeId cast(NodeId x, DType to, const std::string& label);
  // Multiplies x by a number in f32 and rounds once, as torch multiplies a narrow tensor by a Python scalar.
  NodeId scale(NodeId x, double factor, const std::string& label);

  // Returns the elements of a small constant at hand; none: the value is computed, or read from a file.
  std::optional<Tensor> value_of(NodeId id) const;
  // Returns a small value that follows from constants at hand by few nodes, also where the graph keeps these, as it
  // keeps repeated rows; none: an input decides it, or it takes more.
  std::optional<Tensor> computed_value(NodeId id) const;

 private:
  std::optional<Tensor> computed_value(NodeId id, size_t& nodes) const;
  bool is_at_hand(NodeId id) const;
  Result<std::optional<Tensor>> value_of(const Op& op, const std::vector<NodeId>& operands,
                                         const std::string& label) const;

  std::unordered_map<std::string, NodeId> scalars_;
};

}  // namespace rung

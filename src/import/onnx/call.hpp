// One node of an ONNX graph: its inputs, its attributes, and the nodes that it becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/exported/emit.hpp"
#include "import/onnx/proto.hpp"

namespace rung::onnx {

using Inputs = std::vector<std::optional<NodeId>>;
using Outputs = std::vector<NodeId>;  // of the first results; the others are not computed

// Accessors throw std::out_of_range where an input or an attribute is missing or of another kind.
class Call : public exported::Emit {
 public:
  Call(GraphBuilder& builder, std::string label, const NodeProto& node, Inputs inputs, int64_t version)
      : Emit(builder, std::move(label)), node_(node), inputs_(std::move(inputs)), version_(version) {}

  const NodeProto& node() const { return node_; }
  int64_t version() const { return version_; }  // of the node's domain
  size_t count() const { return inputs_.size(); }
  bool has(size_t input) const { return input < inputs_.size() && inputs_[input]; }
  NodeId operator[](size_t input) const;
  std::optional<NodeId> optional(size_t input) const { return has(input) ? inputs_[input] : std::nullopt; }
  // Integers of an input that is known at import.
  std::vector<int64_t> integers_of(size_t input) const;

  const AttributeProto* find(std::string_view name) const;
  int64_t integer(std::string_view name, std::optional<int64_t> left_out = {}) const;
  double number(std::string_view name, double left_out) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> left_out = {}) const;
  std::string text(std::string_view name, std::string left_out) const;
  // Axes as an input of newer versions, or as an attribute of older ones; empty: none are given.
  std::vector<int64_t> axes(size_t input) const;
  using Emit::integers;

 private:
  const NodeProto& node_;
  Inputs inputs_;
  int64_t version_;
};

// How an operator becomes nodes.
using Lower = Outputs (*)(const Call& call);

// Null: no row of operators.inc has this name.
Lower operator_named(std::string_view domain, std::string_view name);

}  // namespace rung::onnx

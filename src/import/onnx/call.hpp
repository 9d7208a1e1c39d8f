// One node of an ONNX graph: its inputs, its attributes, and the nodes that it becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/exported/emit.hpp"
#include "import/onnx/proto.hpp"

namespace rung::onnx {

class Elements;

using Inputs = std::vector<std::optional<NodeId>>;
using Outputs = std::vector<NodeId>;  // of the first results; kNoNode, and others: not computed

// A node where it stands: its label, what it reads, and the version of its domain's operators.
struct Site {
  const NodeProto& node;
  std::string label;
  Inputs inputs;
  int64_t version = 1;
  Elements* elements = nullptr;  // what the inputs carry
};

// Accessors throw std::out_of_range where an input or an attribute is missing or of another kind.
class Call : public exported::Emit {
 public:
  using Load = std::function<Result<Tensor>(const TensorProto&)>;
  Call(GraphBuilder& builder, Site site, Load load)
      : Emit(builder, site.label), site_(std::move(site)), load_(std::move(load)) {}

  const NodeProto& node() const { return site_.node; }
  int64_t version() const { return site_.version; }  // of the node's domain
  Elements& elements() const { return *site_.elements; }
  size_t count() const { return site_.inputs.size(); }
  bool has(size_t input) const { return input < site_.inputs.size() && site_.inputs[input]; }
  NodeId operator[](size_t input) const;
  std::optional<NodeId> optional(size_t input) const { return has(input) ? site_.inputs[input] : std::nullopt; }
  // The integer, or integers, of an input that is known at import.
  int64_t integer_of(size_t input) const;
  std::vector<int64_t> integers_of(size_t input) const;

  // Null: left out. Throws where it is of another kind.
  const AttributeProto* find(std::string_view name, AttributeKind kind) const;
  int64_t integer(std::string_view name, std::optional<int64_t> left_out = {}) const;
  double number(std::string_view name, double left_out) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> left_out = {}) const;
  std::string text(std::string_view name, std::string left_out) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<float> numbers(std::string_view name) const;
  std::optional<Tensor> tensor(std::string_view name) const;
  // Axes as an input of newer versions, or as an attribute of older ones; empty: none are given.
  std::vector<int64_t> axes(size_t input) const;
  using Emit::integers;
  // x through another of ONNX's own operators, with attributes as its versions up to 10 have them.
  NodeId applied(const std::string& op_type, NodeId x, std::vector<AttributeProto> attributes) const;

 private:
  Site site_;
  Load load_;
};

// How an operator becomes nodes.
using Lower = Outputs (*)(const Call& call);

// Null: no row of operators.inc has this name.
Lower operator_named(std::string_view domain, std::string_view name);

// Returns what to say of an operator that has no row.
const char* why_unknown(std::string_view domain, std::string_view name);

}  // namespace rung::onnx

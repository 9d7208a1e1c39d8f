// Reads the inputs and attributes of a node.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/call.hpp"

#include <algorithm>

namespace rung::onnx {

using exported::refuse;

NodeId Call::operator[](size_t input) const {
  if (!has(input)) refuse("input {} is missing", input);
  return *site_.inputs[input];
}

std::vector<int64_t> Call::integers_of(size_t input) const {
  return Emit::integers((*this)[input], fmt::format("input {}", input));
}

int64_t Call::integer_of(size_t input) const {
  const std::vector<int64_t> values = integers_of(input);
  if (values.size() != 1) refuse("input {}: got {} numbers, wanted one", input, values.size());
  return values[0];
}

const AttributeProto* Call::find(std::string_view name, AttributeKind kind) const {
  const auto found = std::ranges::find(site_.node.attributes, name, &AttributeProto::name);
  if (found == site_.node.attributes.end()) return nullptr;
  if (!found->reference.empty())
    refuse("attribute '{}' is the function's '{}', which the call does not give", name, found->reference);
  if (found->kind != AttributeKind::unsaid && found->kind != kind)
    refuse("attribute '{}': got kind {}, wanted {}", name, static_cast<int>(found->kind), static_cast<int>(kind));
  return &*found;
}

int64_t Call::integer(std::string_view name, std::optional<int64_t> left_out) const {
  if (const AttributeProto* attribute = find(name, AttributeKind::i)) return attribute->i;
  if (!left_out) refuse("attribute '{}' is missing", name);
  return *left_out;
}

double Call::number(std::string_view name, double left_out) const {
  const AttributeProto* attribute = find(name, AttributeKind::f);
  return attribute ? static_cast<double>(attribute->f) : left_out;
}

std::vector<int64_t> Call::integers(std::string_view name, std::vector<int64_t> left_out) const {
  const AttributeProto* attribute = find(name, AttributeKind::ints);
  if (attribute && !attribute->ints.empty()) return attribute->ints;
  return left_out;
}

std::string Call::text(std::string_view name, std::string left_out) const {
  const AttributeProto* attribute = find(name, AttributeKind::s);
  if (attribute) return attribute->text;
  return left_out;
}

std::vector<std::string> Call::texts(std::string_view name) const {
  const AttributeProto* attribute = find(name, AttributeKind::strings);
  return attribute ? attribute->strings : std::vector<std::string>();
}

std::vector<float> Call::numbers(std::string_view name) const {
  const AttributeProto* attribute = find(name, AttributeKind::floats);
  return attribute ? attribute->floats : std::vector<float>();
}

std::optional<Tensor> Call::tensor(std::string_view name) const {
  const AttributeProto* attribute = find(name, AttributeKind::tensor);
  return attribute && attribute->tensor ? std::optional(value_or_throw(load_(*attribute->tensor))) : std::nullopt;
}

std::vector<int64_t> Call::axes(size_t input) const { return has(input) ? integers_of(input) : integers("axes"); }

NodeId Call::applied(const std::string& op_type, NodeId x, std::vector<AttributeProto> attributes) const {
  constexpr int64_t kBoundsAreAttributes = 10;  // Clip's
  NodeProto node;
  node.op_type = op_type;
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  const Lower lower = operator_named("", op_type);
  if (!lower) refuse("there is no import of {}", op_type);
  return lower(Call(builder(), {node, site_.label, {x}, kBoundsAreAttributes, site_.elements}, load_)).at(0);
}

}  // namespace rung::onnx

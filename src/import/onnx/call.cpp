// Reads the inputs and attributes of a node.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/call.hpp"

#include <algorithm>

namespace rung::onnx {

using exported::refuse;

NodeId Call::operator[](size_t input) const {
  if (!has(input)) refuse("input {} is missing", input);
  return *inputs_[input];
}

std::vector<int64_t> Call::integers_of(size_t input) const {
  return Emit::integers((*this)[input], fmt::format("input {}", input));
}

const AttributeProto* Call::find(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &AttributeProto::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

int64_t Call::integer(std::string_view name, std::optional<int64_t> left_out) const {
  if (const AttributeProto* attribute = find(name)) return attribute->i;
  if (!left_out) refuse("attribute '{}' is missing", name);
  return *left_out;
}

double Call::number(std::string_view name, double left_out) const {
  const AttributeProto* attribute = find(name);
  return attribute ? static_cast<double>(attribute->f) : left_out;
}

std::vector<int64_t> Call::integers(std::string_view name, std::vector<int64_t> left_out) const {
  const AttributeProto* attribute = find(name);
  return attribute ? attribute->ints : std::move(left_out);
}

std::string Call::text(std::string_view name, std::string left_out) const {
  const AttributeProto* attribute = find(name);
  return attribute ? attribute->text : std::move(left_out);
}

std::vector<int64_t> Call::axes(size_t input) const { return has(input) ? integers_of(input) : integers("axes"); }

}  // namespace rung::onnx

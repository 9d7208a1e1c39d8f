// Reads the arguments of a call by their names.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/call.hpp"

#include <algorithm>

namespace rung::pt2 {

using exported::refuse;

const Value* Call::find(std::string_view name) const {
  const auto found = std::ranges::find(arguments_, name, &std::pair<std::string, Value>::first);
  return found == arguments_.end() || found->second.is_none() ? nullptr : &found->second;
}

Call Call::with(Arguments arguments) const {
  Call other(*this);
  other.arguments_ = std::move(arguments);
  return other;
}

const Value& Call::want(std::string_view name) const {
  const Value* value = find(name);
  if (!value) refuse("argument '{}' is missing", name);
  return *value;
}

void Call::wrong_kind(std::string_view name, std::string_view wanted) const {
  refuse("argument '{}': got {}, wanted {}", name, describe(want(name)), wanted);
}

NodeId Call::tensor(std::string_view name) const {
  const NodeRef* node = want(name).node();
  if (!node) wrong_kind(name, "a tensor");
  return node->id;
}

std::optional<NodeId> Call::optional_tensor(std::string_view name) const {
  return has(name) ? std::optional(tensor(name)) : std::nullopt;
}

std::vector<NodeId> Call::tensors(std::string_view name) const {
  std::vector<NodeId> all;
  for (const auto& one : optional_tensors(name)) {
    if (!one) wrong_kind(name, "tensors");
    all.push_back(*one);
  }
  return all;
}

std::vector<std::optional<NodeId>> Call::optional_tensors(std::string_view name) const {
  const auto* list = std::get_if<Values>(&want(name).is);
  if (!list) wrong_kind(name, "a list of tensors");
  std::vector<std::optional<NodeId>> all;
  for (const Value& value : *list) {
    if (!value.node() && !value.is_none()) wrong_kind(name, "a list of tensors");
    all.push_back(value.node() ? std::optional(value.node()->id) : std::nullopt);
  }
  return all;
}

NodeId Call::tensor_or_number(std::string_view name, NodeId like) const {
  const Value& value = want(name);
  if (value.node()) return tensor(name);
  if (const auto* b = std::get_if<bool>(&value.is)) return scalar(*b, dtype(like));
  const bool is_fraction = std::holds_alternative<double>(value.is);
  const bool widens = is_fraction ? !is_float(dtype(like)) : dtype(like) == DType::boolean;
  return scalar(number(name), !widens ? dtype(like) : is_fraction ? DType::f32 : DType::i64);
}

DType Call::common_type(const std::vector<NodeId>& operands) const {
  const auto kind = [](DType d) { return is_float(d) ? 2 : d == DType::boolean ? 0 : 1; };
  const auto met = [this](const std::vector<NodeId>& nodes, bool have_axes) {
    std::optional<DType> type;
    for (NodeId x : nodes)
      if ((rank(x) > 0) == have_axes) type = type ? exported::promoted(*type, dtype(x)) : dtype(x);
    return type;
  };
  const auto with_axes = met(operands, true), without = met(operands, false);
  if (!with_axes || !without) return with_axes ? *with_axes : without.value();
  return kind(*without) > kind(*with_axes) ? *without : *with_axes;
}

std::vector<NodeId> Call::in_common_type(std::vector<NodeId> operands) const {
  const DType type = common_type(operands);
  for (NodeId& x : operands) x = cast(x, type);
  return operands;
}

Call::Pair Call::both(std::string_view first, std::string_view second) const {
  const bool is_tensor = find(first) && find(first)->node();
  const NodeId a = is_tensor ? tensor(first) : tensor_or_number(first, tensor(second));
  const std::vector<NodeId> met = in_common_type({a, tensor_or_number(second, a)});
  return {met[0], met[1]};
}

int64_t Call::integer(std::string_view name, std::optional<int64_t> left_out) const {
  if (left_out && !has(name)) return *left_out;
  const Value& value = want(name);
  if (const auto* b = std::get_if<bool>(&value.is)) return *b;
  if (const auto* i = std::get_if<int64_t>(&value.is)) return *i;
  wrong_kind(name, "an integer");
}

double Call::number(std::string_view name, std::optional<double> left_out) const {
  if (left_out && !has(name)) return *left_out;
  if (const auto* d = std::get_if<double>(&want(name).is)) return *d;
  return static_cast<double>(integer(name));
}

std::optional<double> Call::optional_number(std::string_view name) const {
  return has(name) ? std::optional(number(name)) : std::nullopt;
}

bool Call::flag(std::string_view name, bool left_out) const { return has(name) ? integer(name) != 0 : left_out; }

std::vector<int64_t> Call::integers(std::string_view name) const {
  const Value& value = want(name);
  const auto* list = std::get_if<Values>(&value.is);
  if (!list) return {integer(name)};
  std::vector<int64_t> all;
  for (const Value& one : *list) {
    const auto* i = std::get_if<int64_t>(&one.is);
    if (!i) refuse("argument '{}': got {} in the list, wanted integers", name, describe(one));
    all.push_back(*i);
  }
  return all;
}

std::vector<int64_t> Call::integers(std::string_view name, std::vector<int64_t> left_out) const {
  return has(name) ? integers(name) : std::move(left_out);
}

std::string Call::text(std::string_view name, std::string left_out) const {
  if (!has(name)) return left_out;
  const auto* text = std::get_if<std::string>(&want(name).is);
  if (!text) wrong_kind(name, "a text");
  return *text;
}

std::optional<DType> Call::dtype_argument(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const auto* dtype = std::get_if<DType>(&want(name).is);
  if (!dtype) wrong_kind(name, "an element type");
  return *dtype;
}

std::string_view base_name(std::string_view target) {
  if (target.starts_with("aten.")) target.remove_prefix(5);
  return target.substr(0, target.find('.'));
}

}  // namespace rung::pt2

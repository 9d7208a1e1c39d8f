// Elements that masks choose, and the places of elements that are not 0: how many there are is known at import.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

// The places of x's elements that are not 0, in their order: for each axis one list, i64.
std::vector<std::vector<int64_t>> places_of(const Call& call, NodeId x) {
  const auto value = call.computed_value(x);
  if (!value)
    refuse("{} decides how many elements there are, which must be known at import: freeze the input", call.type(x));
  const Tensor truth = convert(*value, DType::boolean);
  const Strides strides = contiguous_strides(value->shape());
  std::vector<std::vector<int64_t>> places(static_cast<size_t>(value->shape().rank()));
  for (int64_t i = 0; i < truth.elements(); ++i) {
    if (!truth.as<bool>()[static_cast<size_t>(i)]) continue;
    for (int axis = 0; axis < value->shape().rank(); ++axis)
      places[static_cast<size_t>(axis)].push_back(i / strides[axis] % value->shape()[axis]);
  }
  return places;
}

std::vector<std::optional<NodeId>> indices_of(const Call& call, NodeId x) {
  std::vector<std::optional<NodeId>> all;
  for (const std::vector<int64_t>& places : places_of(call, x))
    all.emplace_back(call.literal(Tensor::of<int64_t>({static_cast<int64_t>(places.size())}, places)));
  return all;
}

}  // namespace

// Indices, of which a mask stands for the places where it is true: one index for each of its axes.
Values index(const Call& call) {
  std::vector<std::optional<NodeId>> indices;
  for (const std::optional<NodeId>& index : call.optional_tensors("indices")) {
    if (!index || call.dtype(*index) != DType::boolean) {
      indices.push_back(index);
      continue;
    }
    for (const auto& places : indices_of(call, *index)) indices.push_back(places);
  }
  return one(call.Emit::index(call.tensor("self"), indices));
}

// The places as rows of one index for each axis.
Values nonzero(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.rank(x) == 0) refuse("places in {}, wanted at least one axis", call.type(x));
  std::vector<NodeId> columns;
  for (const auto& places : indices_of(call, x)) columns.push_back(call.unsqueeze(*places, -1));
  return one(call.concat(columns, 1));
}
Values nonzero_of_each_axis(const Call& call) {
  Values all;
  for (const auto& places : indices_of(call, call.tensor("self"))) all.emplace_back(NodeRef{*places});
  return all;
}

Values masked_select(const Call& call) {
  const NodeId x = call.tensor("self"), mask = call.tensor("mask");
  const Shape both = value_or_throw(broadcast(call.shape(x), call.shape(mask)));
  const NodeId places = call.broadcast(mask, both);
  if (both.rank() == 0) refuse("a choice of {}, wanted at least one axis", call.type(x));
  return one(call.Emit::index(call.broadcast(x, both), indices_of(call, places)));
}

}  // namespace rung::pt2::operators

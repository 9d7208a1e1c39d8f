// Adds nodes, or literals if the values are known already.
// SPDX-License-Identifier: Apache-2.0
#include "import/graph_builder.hpp"

#include <algorithm>
#include <limits>

#include "ir/windows.hpp"
#include "reference/evaluate.hpp"

namespace rung {
namespace {

// Most elements of a value computed here: shapes, indices and scales have fewer, and little to compute.
constexpr int64_t kMostAtHand = 1024;
// Most nodes that computed_value() computes: those of a mask or a size.
constexpr size_t kMostComputed = 256;

bool holds_exactly(double value, DType dtype) {
  auto narrow = convert(Tensor::of<float>({1}, {static_cast<float>(value)}), dtype);
  return convert(narrow, DType::f32).as<float>()[0] == static_cast<float>(value);
}

// An integer without its fraction; what T does not hold becomes the nearest number of T.
template <class T>
T nearest(double value) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
  if (!(value > kLeast)) return std::numeric_limits<T>::min();
  return value >= -kLeast ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

}  // namespace

bool GraphBuilder::is_at_hand(NodeId id) const {
  return graph.is_constant(id) && graph.weight(id)->immediate() && graph.type(id).elements() <= kMostAtHand;
}

std::optional<Tensor> GraphBuilder::value_of(NodeId id) const {
  if (!is_at_hand(id)) return std::nullopt;
  auto value = graph.weight(id)->load();
  return value ? std::optional(std::move(*value)) : std::nullopt;
}

std::optional<Tensor> GraphBuilder::computed_value(NodeId id) const {
  size_t nodes = kMostComputed;
  return computed_value(id, nodes);
}

// `nodes`: how many may still be computed.
std::optional<Tensor> GraphBuilder::computed_value(NodeId id, size_t& nodes) const {
  if (auto value = value_of(id)) return value;
  const Node& node = graph[id];
  if (nodes == 0 || node.operands.empty() || graph.type(id).elements() > kMostAtHand) return std::nullopt;
  --nodes;
  std::vector<Tensor> values;
  for (const NodeId operand : node.operands) {
    auto value = computed_value(operand, nodes);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  auto results = evaluate_results(node.op, values, graph.type(id));
  return results && results->size() == 1 ? std::optional(std::move(results->front())) : std::nullopt;
}

Result<NodeId> GraphBuilder::add(Op op, std::vector<NodeId> operands, const std::string& label) {
  const bool known =
      !operands.empty() && std::all_of(operands.begin(), operands.end(), [&](NodeId id) { return is_at_hand(id); });
  if (known) {
    RUNG_TRY(std::optional<Tensor> value, value_of(op, operands, label));
    if (value) return graph.literal(label.empty() ? std::string(name_of(op)) : label, std::move(*value));
  }
  return graph.try_add(std::move(op), std::move(operands), label);
}

// Returns none if try_add() will refuse the op, if the op has several results or a large one, if it only repeats its
// operand: the graph shows that every row is the same; or if it widens weights of convolutions.
Result<std::optional<Tensor>> GraphBuilder::value_of(const Op& op, const std::vector<NodeId>& operands,
                                                     const std::string& label) const {
  const auto type = graph.infer(op, operands);
  if (!type || type->elements() > kMostAtHand || as<Broadcast>(op) || widens_windows(op, graph.type(operands[0])))
    return std::nullopt;
  std::vector<Tensor> values;
  for (NodeId operand : operands) {
    RUNG_TRY(Tensor value, graph.weight(operand)->load());
    values.push_back(std::move(value));
  }
  auto results = evaluate_results(op, values, *type);
  if (!results) return label.empty() ? tl::unexpected(results.error()) : fail_in(results.error(), "{}", label);
  return results->size() == 1 ? std::optional(std::move(results->front())) : std::nullopt;
}

NodeId GraphBuilder::op(Op op, std::vector<NodeId> operands, const std::string& label) {
  const auto id = add(op, operands, label);
  return id ? *id : graph.add(std::move(op), std::move(operands), label);  // add() asserts
}

NodeId GraphBuilder::scalar(double value, DType dtype) {
  std::string key = fmt::format("{}:{}", value, dtype);
  if (auto it = scalars_.find(key); it != scalars_.end()) return it->second;
  Tensor literal = dtype == DType::i64   ? Tensor::of<int64_t>({}, {nearest<int64_t>(value)})
                   : dtype == DType::i32 ? Tensor::of<int32_t>({}, {nearest<int32_t>(value)})
                                         : convert(Tensor::of<float>({}, {static_cast<float>(value)}), dtype);
  NodeId id = graph.literal(fmt::format("{}", static_cast<float>(value)), std::move(literal));
  scalars_.emplace(std::move(key), id);
  return id;
}

NodeId GraphBuilder::swap_axes(NodeId x, int a, int b, const std::string& label) {
  Dims permutation;
  for (int axis = 0; axis < graph.shape(x).rank(); ++axis) permutation.push_back(axis);
  std::swap(permutation[a], permutation[b]);
  return op(Transpose{permutation}, {x}, label);
}

NodeId GraphBuilder::cast(NodeId x, DType to, const std::string& label) {
  return graph.type(x).dtype == to ? x : op(Cast{to}, {x}, label);
}

NodeId GraphBuilder::scale(NodeId x, double factor, const std::string& label) {
  DType dtype = graph.type(x).dtype;
  if (holds_exactly(factor, dtype)) return binary(BinaryKind::mul, x, scalar(factor, dtype), label);
  NodeId wide = binary(BinaryKind::mul, cast(x, DType::f32, label), scalar(factor, DType::f32), label);
  return cast(wide, dtype, label);
}

}  // namespace rung

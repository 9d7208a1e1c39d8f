// Reads scales, zero points and parts of sums out of a graph.
// SPDX-License-Identifier: Apache-2.0
#include "passes/integer_values.hpp"

#include <algorithm>
#include <cmath>

#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

bool is_one_number(const Graph& graph, NodeId id) {
  return graph.type(id).elements() == 1 && graph.type(id).dtype == DType::f32;
}

// Returns whether it is a cast of bytes to f32.
bool widens_bytes(const Graph& graph, NodeId id) {
  return graph.as<Cast>(id) && graph.type(id).dtype == DType::f32 && is_byte(graph.type(graph[id].operands[0]).dtype);
}
// Returns whether it is one whole number: a known one, or one that was an integer before.
bool is_zero_point(const Graph& graph, NodeId id) {
  if (!is_one_number(graph, id)) return false;
  if (const auto known = uniform_value(graph, id)) return std::nearbyint(*known) == *known && std::abs(*known) <= 255;
  while (is_view(graph[id].op)) id = graph[id].operands[0];
  return widens_bytes(graph, id);
}

// A matrix of constants: cast(w), or cast(w) - zeros.
bool is_centred_weight(const Graph& graph, NodeId id) {
  if (graph.shape(id).rank() != 2) return false;
  if (is_binary(graph, id, BinaryKind::sub) && graph.shape(id) == graph.shape(graph[id].operands[0]))
    id = graph[id].operands[0];
  return widens_bytes(graph, id);
}

const Transpose* transpose_of_matrix(const Graph& graph, NodeId id) {
  const auto* op = graph.as<Transpose>(id);
  return op && graph.shape(id).rank() == 2 && op->permutation == Dims{1, 0} ? op : nullptr;
}

// A run of K, of both factors of a part of the sums.
struct SumPart {
  int64_t begin, end;
  NodeId x, w;      // of all of K
  bool transposed;  // w is [K,N]
};

// Returns the value that a slice of an axis is of, or the value itself.
NodeId source_of_run(const Graph& graph, NodeId id, int axis, std::pair<int64_t, int64_t>& range) {
  const auto* slice = graph.as<Slice>(id);
  range = {0, graph.shape(id)[axis]};
  if (!slice || slice->step != 1 || axis_in(graph, id, slice->axis) != axis) return id;
  range = {slice->begin, slice->end};
  return graph[id].operands[0];
}

// cast(linear(x, w)), both of the same columns.
std::optional<SumPart> part_of(const Graph& graph, NodeId id, const std::vector<bool>& constant) {
  if (!graph.as<Cast>(id) || graph.type(id).dtype != DType::i32) return std::nullopt;
  const NodeId product = graph[id].operands[0];
  const auto* linear = graph.as<Linear>(product);
  if (!linear || !linear->is_plain() || linear->has(LinearSlot::bias) || graph.type(product).dtype != DType::f32)
    return std::nullopt;
  NodeId x = graph[product].operands[0], w = graph[product].operands[1];
  if (w >= constant.size() || !constant[w]) return std::nullopt;
  std::pair<int64_t, int64_t> of_x, of_w;
  x = source_of_run(graph, x, graph.shape(x).rank() - 1, of_x);
  bool is_transposed = false;
  w = source_of_run(graph, w, 1, of_w);
  if (transpose_of_matrix(graph, w)) {
    is_transposed = true;
    const bool whole = of_w == std::pair<int64_t, int64_t>{0, graph.shape(w)[1]};
    w = graph[w].operands[0];
    if (whole) w = source_of_run(graph, w, 0, of_w);
  }
  if (of_x != of_w) return std::nullopt;
  return SumPart{of_x.first, of_x.second, x, w, is_transposed};
}

// The terms of a sum of integers.
struct SumTerms {
  std::vector<SumPart> parts;
  std::vector<NodeId> others;
};

SumTerms terms_of(const Graph& graph, NodeId sum, const std::vector<bool>& constant) {
  SumTerms terms;
  for (const NodeId id : terms_of_sum(graph, sum))
    if (const auto part = part_of(graph, id, constant))
      terms.parts.push_back(*part);
    else
      terms.others.push_back(id);
  return terms;
}

// Returns whether the parts are those of two factors, and together all of K.
bool are_whole(const Graph& graph, std::vector<SumPart>& parts) {
  std::ranges::sort(parts, {}, &SumPart::begin);
  int64_t end = 0;
  for (const SumPart& part : parts) {
    if (part.begin != end || part.x != parts[0].x || part.w != parts[0].w || part.transposed != parts[0].transposed)
      return false;
    end = part.end;
  }
  return !parts.empty() && end == graph.shape(parts[0].x).back();
}

int64_t rows_of(const Graph& graph, const ConstantIntegers& w) { return graph.shape(w.values)[w.transposed ? 1 : 0]; }

// Returns whether it has one number for each row of w, which stands along the product's last axis.
bool has_rows_of(const Graph& graph, NodeId id, const ConstantIntegers& w) {
  const Shape& shape = graph.shape(id);
  return shape.rank() > 0 && shape.product() == rows_of(graph, w) && shape.back() == shape.product();
}

}  // namespace

std::vector<NodeId> terms_of_sum(const Graph& graph, NodeId sum) {
  constexpr size_t kMost = 1024;  // a value that is added to itself again and again has more terms than nodes
  std::vector<NodeId> terms, left{sum};
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (is_binary(graph, id, BinaryKind::add))
      left.insert(left.end(), graph[id].operands.begin(), graph[id].operands.end());
    else
      terms.push_back(id);
    if (left.size() + terms.size() > kMost) return {};
  }
  return terms;
}

bool is_binary(const Graph& graph, NodeId id, BinaryKind kind) {
  const auto* op = graph.as<Binary>(id);
  return op && op->kind == kind;
}

std::optional<Quantised> centred_bytes(const Graph& graph, NodeId id) {
  Quantised made;
  for (; is_view(graph[id].op) && !graph.as<Broadcast>(id); id = graph[id].operands[0])
    made.views.push_back(graph[id].op);
  if (is_binary(graph, id, BinaryKind::sub) && is_zero_point(graph, graph[id].operands[1]) &&
      graph.shape(id) == graph.shape(graph[id].operands[0])) {
    made.zero = graph[id].operands[1];
    id = graph[id].operands[0];
  }
  if (!widens_bytes(graph, id)) return std::nullopt;
  made.values = graph[id].operands[0];
  return made;
}

std::optional<Dequantised> dequantised(const Graph& graph, NodeId x) {
  std::vector<Op> views;
  for (; is_view(graph[x].op) && !graph.as<Broadcast>(x); x = graph[x].operands[0]) views.push_back(graph[x].op);
  if (!is_binary(graph, x, BinaryKind::mul)) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const NodeId values = graph[x].operands[i], scale = graph[x].operands[1 - i];
    if (!is_one_number(graph, scale) || graph.shape(values) != graph.shape(x)) continue;
    auto integers = centred_bytes(graph, values);
    if (!integers) continue;
    integers->views.insert(integers->views.begin(), views.begin(), views.end());
    return Dequantised{std::move(*integers), scale};
  }
  return std::nullopt;
}

std::optional<DequantisedWeight> dequantised_weight(const Graph& graph, NodeId w) {
  const bool is_transposed = transpose_of_matrix(graph, w) != nullptr;
  if (is_transposed) w = graph[w].operands[0];
  if (!is_binary(graph, w, BinaryKind::mul)) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const NodeId values = graph[w].operands[i], scale = graph[w].operands[1 - i];
    const ConstantIntegers integers{values, is_transposed};
    if (graph.shape(values) != graph.shape(w) || !is_centred_weight(graph, values)) continue;
    const int axis = is_transposed ? 1 : 0;
    const Shape& shape = graph.shape(scale);
    const int64_t rows = graph.shape(w)[axis], elements = shape.product();
    const int from_last = 2 - axis;  // where the scales' only axis of more than one element stands
    const bool by_row =
        elements == rows && shape.rank() >= from_last && shape.rank() <= 2 && shape.back(from_last - 1) == rows;
    if (graph.type(scale).dtype == DType::f32 && (elements == 1 || by_row)) return DequantisedWeight{integers, scale};
  }
  return std::nullopt;
}

std::optional<SummedProduct> summed_product(const Graph& graph, NodeId sum, const std::vector<bool>& constant) {
  if (graph.type(sum).dtype != DType::i32) return std::nullopt;
  auto terms = terms_of(graph, sum, constant);
  if (!are_whole(graph, terms.parts) || terms.others.size() > 1) return std::nullopt;
  const SumPart& first = terms.parts[0];
  const auto x = centred_bytes(graph, first.x);
  const ConstantIntegers w{first.w, first.transposed};
  if (!x || !is_centred_weight(graph, w.values)) return std::nullopt;
  const NodeId bias = terms.others.empty() ? kNoNode : terms.others[0];
  if (bias != kNoNode && !has_rows_of(graph, bias, w)) return std::nullopt;
  return SummedProduct{*x, w, bias};
}

bool is_scale_of_rows(const Graph& graph, NodeId scale, const ConstantIntegers& w) {
  const Type& type = graph.type(scale);
  return type.dtype == DType::f32 && (type.elements() == 1 || has_rows_of(graph, scale, w));
}

bool has_i8(const Graph& graph, NodeId constant) {
  const auto value = evaluate_constant(graph, constant);
  if (!value || value->dtype() != DType::f32) return false;
  return std::ranges::all_of(value->as<float>(),
                             [](float v) { return v >= -128 && v <= 127 && std::nearbyint(v) == v; });
}

bool fits_i8(const Graph& graph, const ConstantIntegers& w) {
  const bool is_centred = graph.as<Binary>(w.values) != nullptr;
  const NodeId wide = is_centred ? graph[w.values].operands[0] : w.values;
  const bool is_i8 = graph.type(graph[wide].operands[0]).dtype == DType::i8;
  const auto zero = is_centred ? uniform_value(graph, graph[w.values].operands[1]) : 0;
  if (zero == (is_i8 ? 0 : 128)) return true;
  return has_i8(graph, w.values);
}

NodeId with_views(Graph& graph, NodeId x, const std::vector<Op>& views) {
  for (auto view = views.rbegin(); view != views.rend(); ++view) x = graph.add(*view, {x}, graph[x].label);
  return x;
}

}  // namespace rung::passes

// Reads convolutions of quantised values, and their weights, out of a graph.
// SPDX-License-Identifier: Apache-2.0
#include "passes/integer_convs.hpp"

#include <algorithm>

#include "passes/byte_rounding.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool is_number_or_rows(const Graph& graph, NodeId id, const Shape& of) {
  const Type& type = graph.type(id);
  if (type.dtype != DType::f32) return false;
  return type.elements() == 1 || (type.elements() == of[0] && type.shape.rank() == of.rank() && type.shape[0] == of[0]);
}

// A convolution of some channels of x.
struct ConvPart {
  Conv op;
  NodeId x, w;  // x: of all channels
  int64_t begin = 0, end = 0;
  std::optional<Transpose> turn;  // by which channels of x stand last
};

// Makes of a part that reads a slice of channels, which may be turned behind it, one that reads a run of all channels.
void read_slice(const Graph& graph, ConvPart& part) {
  const auto* turn = graph.as<Transpose>(part.x);
  const NodeId cut = turn ? graph[part.x].operands[0] : part.x;
  const auto* slice = graph.as<Slice>(cut);
  const int last = graph.shape(part.x).rank() - 1, channels = turn ? static_cast<int>(turn->permutation[last]) : last;
  if (!slice || slice->step != 1 || axis_in(graph, cut, slice->axis) != channels) return;
  part.begin = slice->begin, part.end = slice->end, part.x = graph[cut].operands[0];
  if (turn) part.turn = *turn;
}

// Returns how many channels of x there are.
int64_t channels_of(const Graph& graph, const ConvPart& part) {
  const Shape& x = graph.shape(part.x);
  return part.turn ? x[static_cast<int>(part.turn->permutation[x.rank() - 1])] : x.back();
}

// cast(u + select(u < 0, -0.25, 0.25)), u a plain convolution of constant weights, of x or of a slice of its channels.
std::optional<ConvPart> conv_part(const Graph& graph, NodeId id, const std::vector<bool>& constant) {
  const auto* cast = graph.as<Cast>(id);
  const NodeId away = cast ? graph[id].operands[0] : kNoNode;
  if (!cast || cast->to != DType::i32 || !is_binary(graph, away, BinaryKind::add)) return std::nullopt;
  const NodeId sums = graph[away].operands[0], quarter = graph[away].operands[1];
  const bool rounds = graph.as<Select>(quarter) && uniform_value(graph, graph[quarter].operands[1]) == -0.25 &&
                      uniform_value(graph, graph[quarter].operands[2]) == 0.25 &&
                      beside_number(graph, graph[quarter].operands[0], BinaryKind::lt, 0, 0) == sums;
  const auto* conv = graph.as<Conv>(sums);
  if (!rounds || !conv || !conv->is_plain() || conv->transposed || conv->has(ConvSlot::bias)) return std::nullopt;
  ConvPart part{*conv, graph[sums].operands[0], graph[sums].operands[1]};
  if (part.w >= constant.size() || !constant[part.w]) return std::nullopt;
  part.end = graph.shape(part.x).back();
  read_slice(graph, part);
  return part;
}

// Returns whether the parts, in order, are all channels of x. Groups stay together: their channels lie apart.
bool are_of_one_conv(const Graph& graph, const std::vector<ConvPart>& parts) {
  int64_t end = 0;
  for (const ConvPart& part : parts) {
    if (part.begin != end || part.x != parts[0].x || part.turn != parts[0].turn || !(part.op == parts[0].op))
      return false;
    end = part.end;
  }
  return end == channels_of(graph, parts[0]) && (parts.size() == 1 || parts[0].op.groups == 1);
}

// Returns whether every number of constant weights is an i8, which a whole says of its parts without reading them.
bool is_of_i8(const Graph& graph, NodeId part) {
  NodeId whole = part;
  while (is_view(graph[whole].op)) whole = graph[whole].operands[0];
  const NodeId wide = is_binary(graph, whole, BinaryKind::sub) ? graph[whole].operands[0] : whole;
  if (!graph.as<Cast>(wide) || !is_byte(graph.type(graph[wide].operands[0]).dtype)) return has_i8(graph, part);
  return graph.shape(wide) == graph.shape(whole) && fits_i8(graph, {whole, false});
}

}  // namespace

std::optional<ConvWeight> dequantised_conv_weight(const Graph& graph, NodeId w) {
  ConvWeight made;
  for (; is_view(graph[w].op) && !graph.as<Broadcast>(w); w = graph[w].operands[0]) {
    const auto* transpose = graph.as<Transpose>(w);
    const bool keeps_first = transpose ? transpose->permutation[0] == 0
                                       : graph.as<Reshape>(w) && graph.shape(graph[w].operands[0]).rank() > 0 &&
                                             graph.shape(w)[0] == graph.shape(graph[w].operands[0])[0];
    if (!keeps_first) return std::nullopt;
    made.views.push_back(graph[w].op);
  }
  if (!is_binary(graph, w, BinaryKind::mul)) return std::nullopt;
  NodeId values = graph[w].operands[0];
  made.scale = graph[w].operands[1];
  if (graph.shape(values) != graph.shape(w) || !is_number_or_rows(graph, made.scale, graph.shape(w)))
    return std::nullopt;
  if (is_binary(graph, values, BinaryKind::sub) && graph.shape(graph[values].operands[0]) == graph.shape(w)) {
    made.zero = graph[values].operands[1];
    values = graph[values].operands[0];
  }
  if (made.zero != kNoNode && !is_number_or_rows(graph, made.zero, graph.shape(w))) return std::nullopt;
  if (!graph.as<Cast>(values) || !is_byte(graph.type(graph[values].operands[0]).dtype)) return std::nullopt;
  made.bytes = graph[values].operands[0];
  if (!fits_i8(graph, {graph[w].operands[0], false})) return std::nullopt;
  return made;
}

std::optional<SummedConv> summed_conv(const Graph& graph, NodeId sum, const std::vector<bool>& constant) {
  std::vector<ConvPart> parts;
  SummedConv made;
  for (const NodeId term : terms_of_sum(graph, sum)) {
    const auto part = conv_part(graph, term, constant);
    if (part) parts.push_back(*part);
    if (!part && (made.bias != kNoNode || term >= constant.size() || !constant[term])) return std::nullopt;
    if (!part) made.bias = term;
  }
  std::ranges::sort(parts, {}, &ConvPart::begin);
  if (parts.empty() || !are_of_one_conv(graph, parts)) return std::nullopt;
  const auto x = centred_bytes(graph, parts[0].x);
  const auto zero = !x || x->zero == kNoNode ? 0 : uniform_value(graph, x->zero);
  if (!x || !zero) return std::nullopt;
  made.op = parts[0].op, made.op.zero = static_cast<int64_t>(*zero), made.x = *x;
  if (parts[0].turn) made.x.views.insert(made.x.views.begin(), *parts[0].turn);
  for (const ConvPart& part : parts) {
    if (!is_of_i8(graph, part.w)) return std::nullopt;
    made.weights.push_back(part.w);
  }
  const int64_t rows = graph.shape(parts[0].w)[0];
  const auto is_of_rows = [&](const Shape& shape) {
    return shape.product() == rows && (rows == 1 || (shape.rank() > 0 && shape.back() == rows));
  };
  return made.bias == kNoNode || is_of_rows(graph.shape(made.bias)) ? std::optional(made) : std::nullopt;
}

}  // namespace rung::passes

// Reads roundings to bytes, and limits of values, out of a graph.
// SPDX-License-Identifier: Apache-2.0
#include "passes/byte_rounding.hpp"

#include <algorithm>
#include <cmath>

#include "passes/integer_values.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr double kBeside = 12582912;  // 1.5 2^23: x + it - it is x, rounded to a whole number (Emit::rounded_if_small)

// The condition of a select reads its value, too, twice.
bool only_select_reads(const Graph& graph, NodeId value, NodeId select) {
  const NodeId condition = graph[select].operands[0];
  const auto& users = graph[value].users;
  return !graph.is_output(value) && graph.single_use(condition) &&
         std::ranges::all_of(users, [&](NodeId user) { return user == select || user == condition; });
}

}  // namespace

std::optional<NodeId> beside_number(const Graph& graph, NodeId id, BinaryKind kind, double least, double most) {
  if (!is_binary(graph, id, kind)) return std::nullopt;
  const auto number = uniform_value(graph, graph[id].operands[1]);
  if (!number || *number < least || *number > most) return std::nullopt;
  return graph[id].operands[0];
}

std::optional<NodeId> with_number_for_nan(const Graph& graph, NodeId id, double least, double most) {
  if (!graph.as<Select>(id)) return std::nullopt;
  const std::vector<NodeId>& operands = graph[id].operands;
  const NodeId x = operands[1];
  const auto number = uniform_value(graph, operands[2]);
  const bool tells_nan =
      is_binary(graph, operands[0], BinaryKind::eq) && graph[operands[0]].operands == std::vector{x, x};
  if (!tells_nan || !number || *number < least || *number > most || *number != std::floor(*number)) return std::nullopt;
  return x;
}

std::optional<NodeId> rounded_value(const Graph& graph, NodeId id) {
  const auto sum = beside_number(graph, id, BinaryKind::sub, kBeside, kBeside);
  return sum ? beside_number(graph, *sum, BinaryKind::add, kBeside, kBeside) : std::nullopt;
}

std::optional<ByteRounding> byte_rounding(const Graph& graph, NodeId bytes) {
  const auto* cast = graph.as<Cast>(bytes);
  if (!cast || !is_byte(cast->to)) return std::nullopt;
  const double least = cast->to == DType::i8 ? -128 : 0, most = least + 255;
  const NodeId select = graph[bytes].operands[0];
  const auto bounded = with_number_for_nan(graph, select, least, most);
  if (!bounded || !graph.single_use(select) || !only_select_reads(graph, *bounded, select)) return std::nullopt;
  const auto above = beside_number(graph, *bounded, BinaryKind::min, most, most);
  if (!above || !graph.single_use(*above)) return std::nullopt;
  const auto sum = beside_number(graph, *above, BinaryKind::max, least, least);
  if (!sum || !graph.single_use(*sum)) return std::nullopt;
  ByteRounding made{*sum};
  if (const auto whole = beside_number(graph, *sum, BinaryKind::add, least, most)) {
    const double zero = *uniform_value(graph, graph[*sum].operands[1]);
    if (zero != std::nearbyint(zero) || !graph.single_use(*whole)) return std::nullopt;
    made.zero = static_cast<int64_t>(zero), made.value = *whole;
  }
  const auto value = rounded_value(graph, made.value);
  if (!value || !graph.single_use(graph[made.value].operands[0]) || !graph.single_use(*value)) return std::nullopt;
  made.value = *value;
  return made;
}

std::optional<Limited> limited_value(const Graph& graph, NodeId id) {
  Limited made{id};
  const auto limit = [&](double low, double high) {
    made.low = std::max(made.low, low), made.high = std::min(made.high, high);
  };
  for (;;) {
    const auto* unary = graph.as<Unary>(made.value);
    const auto* binary = graph.as<Binary>(made.value);
    const auto number = binary ? uniform_value(graph, graph[made.value].operands[1]) : std::nullopt;
    if (unary && unary->kind == UnaryKind::relu)
      limit(0, made.high);
    else if (number && binary->kind == BinaryKind::max)
      limit(*number, made.high);
    else if (number && binary->kind == BinaryKind::min)
      limit(made.low, *number);
    else
      return made.low < made.high ? std::optional(made) : std::nullopt;
    made.value = graph[made.value].operands[0];
    if (!graph.single_use(made.value)) return std::nullopt;
  }
}

}  // namespace rung::passes

// Roundings to bytes, and limits of values, as the nodes of a graph write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <optional>

#include "ir/graph.hpp"

namespace rung::passes {

// Returns the other operand where the second one is uniform and within the bounds.
std::optional<NodeId> beside_number(const Graph& graph, NodeId id, BinaryKind kind, double least, double most);
// Returns x of select(x == x, x, number), which is never NaN, if the number is whole and within the bounds.
std::optional<NodeId> with_number_for_nan(const Graph& graph, NodeId id, double least, double most);
// Returns x of x + 1.5 2^23 - 1.5 2^23, which is x, rounded to a whole number.
std::optional<NodeId> rounded_value(const Graph& graph, NodeId id);

// Bytes: round(value) + zero, limited to the numbers of their type. Nothing else reads what stands between.
struct ByteRounding {
  NodeId value;
  int64_t zero = 0;
};
std::optional<ByteRounding> byte_rounding(const Graph& graph, NodeId bytes);

// A value limited to numbers, by relu, max and min that nothing else reads.
struct Limited {
  NodeId value;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
// Returns the value itself where nothing limits it; none: the limits leave one number.
std::optional<Limited> limited_value(const Graph& graph, NodeId id);

}  // namespace rung::passes

// Convolutions of quantised values, and roundings to bytes behind them, as the nodes of a graph write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "passes/integer_values.hpp"

namespace rung::passes {

// A constant [O,...]: (cast(bytes) - zero) scale, behind views that keep O the first axis. Its integers are i8.
struct ConvWeight {
  NodeId bytes, zero = kNoNode, scale;  // zero and scale: one number, or one for each of O
  std::vector<Op> views;                // the last one first
};
std::optional<ConvWeight> dequantised_conv_weight(const Graph& graph, NodeId w);

// Sums of integers of a convolution, in i32, as integer_convolution() of ONNX's importer adds them up: of all channels,
// or of some after others, as f32 holds their sums.
struct SummedConv {
  Conv op;  // of all channels, with the zero point of x
  Quantised x;
  std::vector<NodeId> weights;  // f32 [O,K...,C] of whole numbers of i8, which follow one another along C
  NodeId bias = kNoNode;        // i32, one for each of O
};
// `constant`: constant_nodes().
std::optional<SummedConv> summed_conv(const Graph& graph, NodeId sum, const std::vector<bool>& constant);

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

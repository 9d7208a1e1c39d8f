// Convolutions of quantised values, as the nodes of a graph write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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

}  // namespace rung::passes

// Values that stand for floats by scales and zero points, and products of such, as the nodes of a graph write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace rung::passes {

inline bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }
// Returns what a sum of sums adds up; none: it is too much.
std::vector<NodeId> terms_of_sum(const Graph& graph, NodeId sum);
bool is_binary(const Graph& graph, NodeId id, BinaryKind kind);

// A value is cast(values) - zero, seen through the views.
struct Quantised {
  NodeId values = kNoNode;  // u8 or i8
  NodeId zero = kNoNode;    // one whole number in f32, or none
  std::vector<Op> views;    // the last one first
};
// A constant matrix of f32: the numbers of bytes, cast(w), or these less other constants.
struct ConstantIntegers {
  NodeId values = kNoNode;
  bool transposed = false;  // whether it is [K,N], where the product reads [N,K]
};

struct Dequantised {
  Quantised integers;
  NodeId scale;  // one number of f32
};
struct DequantisedWeight {
  ConstantIntegers integers;
  NodeId scale;  // one number, or one for each row of [N,K]
};

// Returns what x is: cast(q), or cast(q) - zero of one number, behind views.
std::optional<Quantised> centred_bytes(const Graph& graph, NodeId x);
// Returns what x is times one scale: reshape(mul(cast(q) - zero, scale)) and the like.
std::optional<Dequantised> dequantised(const Graph& graph, NodeId x);
// Returns what the constant w [N,K] is times scales.
std::optional<DequantisedWeight> dequantised_weight(const Graph& graph, NodeId w);

struct SummedProduct {
  Quantised x;
  ConstantIntegers w;
  NodeId bias;  // i32, one for each row of w; kNoNode: none
};
// Returns the factors of sums in i32: one cast(linear(x, w)), or the sum of several, which take K part by part, and
// what is added to them.
// `constant`: constant_nodes().
std::optional<SummedProduct> summed_product(const Graph& graph, NodeId sum, const std::vector<bool>& constant);

// Returns whether a scale is one number, or one for each row of w, which stands along the product's last axis.
bool is_scale_of_rows(const Graph& graph, NodeId scale, const ConstantIntegers& w);
// Returns whether every number of a constant of f32 is an i8.
bool has_i8(const Graph& graph, NodeId constant);
// Returns whether every number of w is an i8. Reads w unless its types alone say so.
bool fits_i8(const Graph& graph, const ConstantIntegers& w);
// Puts the views on another value, at the graph's insertion point.
NodeId with_views(Graph& graph, NodeId x, const std::vector<Op>& views);

}  // namespace rung::passes

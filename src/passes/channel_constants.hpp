// Constants of channels as nodes, which are computed when a plan is built: factors that smooth, and changed rows of
// weights. All nodes are added at the graph's insertion point.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "passes/channels.hpp"

namespace rung::passes {

// Channels [groups, shared, width] of which the ones of a group share what makes them, as heads of queries share
// values.
struct SharedChannels {
  int64_t shared = 1, width = 1;
  // Returns the largest of those that share one: f32[groups, width] of f32[groups, shared, width], both flat.
  NodeId largest(Graph& graph, NodeId channels) const;
  NodeId repeated(Graph& graph, NodeId own) const;  // back again
};

// Returns the literal of the largest |x| of each channel, f32[channels]. A channel of zeros counts as the smallest of
// the others: unseen inputs may have values there.
NodeId sizes_of_x(Graph& graph, std::vector<float> largest);
// Returns the largest |w| of each column of weights T[rows, channels]: f32[channels].
NodeId sizes_of_columns(Graph& graph, NodeId w);
// Returns the powers of two closest to x^alpha / w^(1 - alpha), f32, from 2^-30 to 2^30.
NodeId smoothing_factors(Graph& graph, NodeId x, NodeId w, double alpha);

// Return x * s and x / s in the type of x, s: f32[last axis of x], powers of two, which change no digit.
NodeId times_channels(Graph& graph, NodeId x, NodeId s);
NodeId over_channels(Graph& graph, NodeId x, NodeId s);

// Returns some elements of x along its first axis.
NodeId rows_of(Graph& graph, NodeId x, int64_t begin, int64_t end);
// Returns x with those rows in place of its own.
NodeId with_rows(Graph& graph, NodeId x, const ChannelRows& rows, NodeId by);

}  // namespace rung::passes

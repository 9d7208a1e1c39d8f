// Cuts convolutions into ops that every device has: windows side by side, and products over them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "passes/conv_parts.hpp"

namespace rung::passes {

// A plain convolution over an x that has its surroundings.
class WindowLowering {
 public:
  // `around`: one element of what stands around x, which may be another value than the convolution's.
  WindowLowering(Graph& graph, NodeId conv, NodeId x, NodeId around);

  bool is_small(int64_t groups, bool is_depthwise) const;
  // Returns rows of windows: of each its channels, then the taps of the first axis, then those of the second.
  NodeId rows() const { return rows_of(x_); }
  // Returns w with columns in the order of rows().
  NodeId matrix(NodeId w) const;
  // Returns, of depthwise weights, one row for each channel: the sum over its taps.
  NodeId each_channel(NodeId w) const;
  NodeId by_groups(NodeId w, int64_t groups) const;

 private:
  void pad(size_t axis, NodeId around);
  NodeId rows_of(NodeId x) const;
  NodeId product(NodeId x, NodeId w) const;
  NodeId seen(NodeId from, size_t axis, int64_t tap) const;

  Graph& graph_;
  std::string label_;
  std::vector<Window> windows_;
  NodeId x_;
  int64_t all_taps_ = 1, sum_of_taps_ = 0;
};

}  // namespace rung::passes

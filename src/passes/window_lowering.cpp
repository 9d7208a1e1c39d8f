// Pads x, slices what each tap sees of it, and puts these side by side.
// SPDX-License-Identifier: Apache-2.0
#include "passes/window_lowering.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kMostNodes = 4096;  // that one convolution becomes

}  // namespace

WindowLowering::WindowLowering(Graph& graph, NodeId conv, NodeId x, NodeId around)
    : graph_(graph), label_(graph[conv].label), windows_(windows_of(graph, conv)), x_(x) {
  for (size_t axis = 0; axis < windows_.size(); ++axis) {
    pad(axis, around);
    all_taps_ *= windows_[axis].taps;
    sum_of_taps_ += windows_[axis].taps;
  }
}

bool WindowLowering::is_small(int64_t groups, bool is_depthwise) const {
  return is_depthwise ? all_taps_ <= kMostNodes : groups <= kMostNodes / sum_of_taps_;
}

NodeId WindowLowering::rows_of(NodeId x) const {
  for (size_t axis = 0; axis < windows_.size(); ++axis) {
    std::vector<NodeId> parts;
    for (int64_t tap = 0; tap < windows_[axis].taps; ++tap) parts.push_back(seen(x, axis, tap));
    x = parts.size() == 1 ? parts[0] : graph_.add(Concat{graph_.shape(x).rank() - 1}, parts, label_);
  }
  return x;
}

NodeId WindowLowering::matrix(NodeId w) const {
  Dims order{0};
  for (size_t axis = 0; axis < windows_.size(); ++axis) order.insert(1, static_cast<int64_t>(axis) + 1);
  order.push_back(graph_.shape(w).rank() - 1);
  const int64_t rows = graph_.shape(w)[0], terms = graph_.shape(w).product() / rows;
  return reshaped(graph_, transposed(graph_, w, order, label_), {rows, terms}, label_);
}

NodeId WindowLowering::product(NodeId x, NodeId w) const {
  const NodeId rows = rows_of(x);
  return graph_.add(Linear{.out = graph_.type(rows).dtype}, {rows, matrix(w)}, label_);
}

NodeId WindowLowering::each_channel(NodeId w) const {
  const int64_t channels = graph_.shape(w)[0];
  const NodeId taps = reshaped(graph_, w, {channels, all_taps_}, label_);
  NodeId sum = kNoNode;
  for (int64_t tap = 0; tap < all_taps_; ++tap) {
    NodeId values = x_;
    int64_t rest = tap;
    for (size_t axis = windows_.size(); axis-- > 0; rest /= windows_[axis].taps)
      values = seen(values, axis, rest % windows_[axis].taps);
    const NodeId weights = reshaped(graph_, graph_.add(Slice{1, tap, tap + 1, 1}, {taps}, label_), {channels});
    const NodeId term = graph_.add(Binary{BinaryKind::mul}, {values, weights}, label_);
    sum = sum == kNoNode ? term : graph_.add(Binary{BinaryKind::add}, {sum, term}, label_);
  }
  return sum;
}

NodeId WindowLowering::by_groups(NodeId w, int64_t groups) const {
  if (groups == 1) return product(x_, w);
  const int channel = graph_.shape(x_).rank() - 1;
  const int64_t run = graph_.shape(x_).back() / groups, rows = graph_.shape(w)[0] / groups;
  std::vector<NodeId> results;
  for (int64_t i = 0; i < groups; ++i)
    results.push_back(product(graph_.add(Slice{channel, i * run, (i + 1) * run, 1}, {x_}, label_),
                              graph_.add(Slice{0, i * rows, (i + 1) * rows, 1}, {w}, label_)));
  return graph_.add(Concat{channel}, results, label_);
}

void WindowLowering::pad(size_t axis, NodeId around) {
  Window& window = windows_[axis];
  const int at = static_cast<int>(axis) + 1;
  std::vector<NodeId> parts;
  const auto add = [&](int64_t count) {
    if (count == 0) return;
    Shape shape = graph_.shape(x_);
    shape[at] = count;
    parts.push_back(graph_.add(Broadcast{shape}, {around}, label_));
  };
  add(window.before);
  parts.push_back(x_);
  add(window.after);
  if (parts.size() > 1) x_ = graph_.add(Concat{at}, parts, label_);
  window.extent += window.before + window.after;
  window.before = window.after = 0;
}

// Returns the elements that a tap sees along an axis.
NodeId WindowLowering::seen(NodeId from, size_t axis, int64_t tap) const {
  const Window& window = windows_[axis];
  const int64_t begin = tap * window.dilation, end = begin + (window.results() - 1) * window.stride + 1;
  if (begin == 0 && end == window.extent && window.stride == 1) return from;
  return graph_.add(Slice{static_cast<int64_t>(axis) + 1, begin, end, window.stride}, {from}, label_);
}

}  // namespace rung::passes

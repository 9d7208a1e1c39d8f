// Lowers convolutions to linears: those whose windows have one element, and, where the device has no fast kernel for
// convolutions, others as well, with the elements of every window side by side.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/conv_parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {

namespace {

// conv(x, w, b, r)  =>  linear(x, reshape(w), b, r)      every window is one element; the linear's epilogue has no
// factors, no last activation and no tail
bool lower_points(Graph& graph, PassContext& context, NodeId id) {
  const Conv conv = *graph.as<Conv>(id);
  if (conv.groups != 1 || scales_channels(graph, id) || conv.last != Activation::none || !conv.tail.empty())
    return false;
  for (const Window& window : windows_of(graph, id))
    if (!window.is_point()) return false;
  std::vector<NodeId> operands = graph[id].operands;
  const Shape rows{graph.shape(operands[1])[0], graph.shape(operands[1]).back()};
  Linear linear{.out = graph.type(id).dtype};
  linear.epilogue.activation = conv.activation;
  if (conv.has(ConvSlot::bias)) linear.slots.add(LinearSlot::bias);
  if (conv.has(ConvSlot::residual)) linear.slots.add(LinearSlot::residual);
  Insertion here(graph, id);
  operands[1] = reshaped(graph, operands[1], rows, graph[operands[1]].label);
  return replace_if_kernel(graph, context, id, linear, std::move(operands));
}

constexpr int64_t kMostNodes = 4096;  // that one convolution becomes

// A plain convolution over an x that has its zeros, cut into ops that every device has.
class WindowLowering {
 public:
  WindowLowering(Graph& graph, NodeId conv)
      : graph_(graph), label_(graph[conv].label), windows_(windows_of(graph, conv)), x_(graph[conv].operands[0]) {
    for (size_t axis = 0; axis < windows_.size(); ++axis) {
      pad(axis);
      all_taps_ *= windows_[axis].taps;
      sum_of_taps_ += windows_[axis].taps;
    }
  }

  bool is_small(int64_t groups, bool is_depthwise) const {
    return is_depthwise ? all_taps_ <= kMostNodes : groups <= kMostNodes / sum_of_taps_;
  }

  // Every window becomes a row, axis by axis: its channels, then the taps of the first axis, then those of the second.
  NodeId product(NodeId x, NodeId w) const {
    Dims order{0};
    for (size_t axis = 0; axis < windows_.size(); ++axis) {
      std::vector<NodeId> parts;
      for (int64_t tap = 0; tap < windows_[axis].taps; ++tap) parts.push_back(seen(x, axis, tap));
      x = parts.size() == 1 ? parts[0] : graph_.add(Concat{graph_.shape(x).rank() - 1}, parts, label_);
      order.insert(1, static_cast<int64_t>(axis) + 1);
    }
    order.push_back(graph_.shape(w).rank() - 1);
    const int64_t rows = graph_.shape(w)[0], terms = graph_.shape(w).product() / rows;
    const NodeId matrix = reshaped(graph_, transposed(graph_, w, order, label_), {rows, terms}, label_);
    return graph_.add(Linear{.out = graph_.type(x).dtype}, {x, matrix}, label_);
  }

  // One row of weights for each channel: the sum over its taps.
  NodeId each_channel(NodeId w) const {
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

  NodeId by_groups(NodeId w, int64_t groups) const {
    if (groups == 1) return product(x_, w);
    const int channel = graph_.shape(x_).rank() - 1;
    const int64_t run = graph_.shape(x_).back() / groups, rows = graph_.shape(w)[0] / groups;
    std::vector<NodeId> results;
    for (int64_t i = 0; i < groups; ++i)
      results.push_back(product(graph_.add(Slice{channel, i * run, (i + 1) * run, 1}, {x_}, label_),
                                graph_.add(Slice{0, i * rows, (i + 1) * rows, 1}, {w}, label_)));
    return graph_.add(Concat{channel}, results, label_);
  }

 private:
  void pad(size_t axis) {
    Window& window = windows_[axis];
    const int at = static_cast<int>(axis) + 1;
    std::vector<NodeId> parts;
    const auto zeros = [&](int64_t count) {
      if (count == 0) return;
      Shape shape = graph_.shape(x_);
      shape[at] = count;
      const NodeId zero = graph_.literal("zero", Tensor({graph_.type(x_).dtype, Shape{}}));  // tensors begin as zeros
      parts.push_back(graph_.add(Broadcast{shape}, {zero}, label_));
    };
    zeros(window.before);
    parts.push_back(x_);
    zeros(window.after);
    if (parts.size() > 1) x_ = graph_.add(Concat{at}, parts, label_);
    window.extent += window.before + window.after;
    window.before = window.after = 0;
  }

  // The elements that a tap sees along an axis.
  NodeId seen(NodeId from, size_t axis, int64_t tap) const {
    const Window& window = windows_[axis];
    const int64_t begin = tap * window.dilation, end = begin + (window.results() - 1) * window.stride + 1;
    if (begin == 0 && end == window.extent && window.stride == 1) return from;
    return graph_.add(Slice{static_cast<int64_t>(axis) + 1, begin, end, window.stride}, {from}, label_);
  }

  Graph& graph_;
  std::string label_;
  std::vector<Window> windows_;
  NodeId x_;
  int64_t all_taps_ = 1, sum_of_taps_ = 0;
};

// conv(x, w)  =>  linear over rows of windows, or a sum of products where it is depthwise      the device has no fast
// kernel for it, and its windows are small
bool lower_windows(Graph& graph, PassContext& context, NodeId id) {
  const Conv op = *graph.as<Conv>(id);
  if (op.transposed || context.kernel_for(graph, op, graph[id].operands)) return false;
  const NodeId w = graph[id].operands[1];
  const int64_t channels = graph.shape(graph[id].operands[0]).back();
  const bool is_depthwise = op.groups == channels && graph.shape(w)[0] == channels && channels > 1;
  Insertion here(graph, id);
  const WindowLowering lowering(graph, id);
  if (!lowering.is_small(op.groups, is_depthwise)) return false;
  const NodeId products = is_depthwise ? lowering.each_channel(w) : lowering.by_groups(w, op.groups);
  return finish_conv(graph, id, activated(graph, id, products));
}

}  // namespace

Status lower_conv(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) {
    if (!graph.as<Conv>(id)) return;
    lowered += lower_points(graph, context, id) || lower_windows(graph, context, id);
  });
  if (lowered) context.notes.add("{}", words::counted(lowered, "convolution was lowered", "convolutions were lowered"));
  return {};
}

}  // namespace rung::passes

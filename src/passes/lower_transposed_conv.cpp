// Lowers a transposed convolution to plain ones. Along each axis, results that are a stride apart see the same taps, so
// they are the results of a plain convolution with these taps; those of all phases stand in turns.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/words.hpp"
#include "ir/functions.hpp"
#include "passes/conv_parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kMostPhases = 64;  // of all axes together

// A phase along one axis: its taps of w, and its windows over x, in which zeros may be negative: elements to leave out.
struct Phase {
  std::vector<int64_t> taps;
  int64_t dilation = 1, before = 0, after = 0;
};

// Results first, first + stride, ... of one axis, `count` of them. A result r sees element i of x through tap k where
// r + before = i * stride + k * dilation; the taps of a phase are `step` apart, and the elements they see `dilation`.
Phase phase_of(const Window& window, int64_t first, int64_t count) {
  const int64_t shared = std::gcd(window.dilation, window.stride), step = window.stride / shared;
  Phase phase{.taps = {}, .dilation = window.dilation / shared};
  const int64_t place = first + window.before;
  int64_t tap = 0;
  while (tap < window.taps && (place - tap * window.dilation) % window.stride != 0) ++tap;
  for (int64_t at = tap; at < window.taps; at += step) phase.taps.insert(phase.taps.begin(), at);
  if (phase.taps.empty()) return phase;
  const int64_t reach = (static_cast<int64_t>(phase.taps.size()) - 1) * phase.dilation;
  phase.before = reach - (place - tap * window.dilation) / window.stride;
  phase.after = count + reach - window.extent - phase.before;
  return phase;
}

class PhaseLowering {
 public:
  PhaseLowering(Graph& graph, PassContext& context, NodeId conv)
      : graph_(graph), context_(context), conv_(conv), op_(*graph.as<Conv>(conv)), label_(graph[conv].label) {
    for (const Window& window : windows_of(graph, conv)) {
      windows_.push_back(window);
      counts_.push_back((window.results() + window.stride - 1) / window.stride);
      all_ = window.stride > kMostPhases ? kMostPhases + 1 : std::min(all_ * window.stride, kMostPhases + 1);
    }
  }

  bool is_small() const { return all_ <= kMostPhases; }

  // Returns the products of all phases in turns, activated where kernels do that with the products; kNoNode: a phase
  // sees nothing of x.
  NodeId results() {
    activates_ = true;
    if (const NodeId activated = along(0, {}); activated != kNoNode) return activated;
    activates_ = false;
    const NodeId products = along(0, {});
    return products == kNoNode ? kNoNode : activated(graph_, conv_, products);
  }

 private:
  // Returns results whose phases along the axes before `axis` are given.
  NodeId along(size_t axis, std::vector<Phase> phases) {
    if (axis == windows_.size()) return of(phases);
    const int at = static_cast<int>(axis) + 1;
    std::vector<NodeId> parts;
    for (int64_t first = 0; first < windows_[axis].stride; ++first) {
      phases.push_back(phase_of(windows_[axis], first, counts_[axis]));
      const NodeId part = along(axis + 1, phases);
      if (part == kNoNode) return kNoNode;
      phases.pop_back();
      Shape apart = graph_.shape(part);
      apart.insert(at + 1, 1);
      parts.push_back(graph_.add(Reshape{apart}, {part}, label_));
    }
    if (parts.size() == 1) return reshaped(graph_, parts[0], without(graph_.shape(parts[0]), at + 1), label_);
    const NodeId turns = graph_.add(Concat{at + 1}, parts, label_);
    Shape joined = without(graph_.shape(turns), at + 1);
    joined[at] *= windows_[axis].stride;
    const NodeId whole = reshaped(graph_, turns, joined, label_);
    if (joined[at] == windows_[axis].results()) return whole;
    return graph_.add(Slice{at, 0, windows_[axis].results(), 1}, {whole}, label_);
  }

  static Shape without(Shape shape, int axis) { return shape.erase(axis), shape; }

  // Returns the convolution of one phase of each axis; kNoNode: it sees nothing, or no kernel activates its products.
  NodeId of(const std::vector<Phase>& phases) {
    NodeId x = graph_[conv_].operands[0], w = graph_[conv_].operands[1];
    Conv plain{.groups = op_.groups};
    for (size_t axis = 0; axis < phases.size(); ++axis) {
      const Phase& phase = phases[axis];
      const int at = static_cast<int>(axis) + 1;
      const int64_t begin = std::max<int64_t>(0, -phase.before);
      const int64_t end = windows_[axis].extent - std::max<int64_t>(0, -phase.after);
      if (phase.taps.empty() || begin >= end) return kNoNode;
      if (begin > 0 || end < windows_[axis].extent) x = graph_.add(Slice{at, begin, end, 1}, {x}, label_);
      w = graph_.add(Gather{at}, {w, places(phase.taps)}, label_);
      plain.dilation.push_back(phase.dilation);
      plain.before.push_back(std::max<int64_t>(0, phase.before));
      plain.after.push_back(std::max<int64_t>(0, phase.after));
    }
    std::vector<NodeId> operands{x, w};
    if (activates_) add_ends(plain, operands);
    if (activates_ && !context_.kernel_for(graph_, plain, operands)) return kNoNode;
    return graph_.add(plain, std::move(operands), label_);
  }

  void add_ends(Conv& plain, std::vector<NodeId>& operands) const {
    plain.activation = op_.activation;
    if (const NodeId* bias = op_.slots.find(graph_[conv_].operands, ConvSlot::bias))
      plain.slots.put(operands, ConvSlot::bias, *bias);
  }

  NodeId places(const std::vector<int64_t>& taps) {
    Tensor tensor({DType::i64, {static_cast<int64_t>(taps.size())}});
    std::ranges::copy(taps, tensor.as<int64_t>().begin());
    return graph_.literal("taps", std::move(tensor));
  }

  Graph& graph_;
  PassContext& context_;
  NodeId conv_;
  Conv op_;
  std::string label_;
  std::vector<Window> windows_;
  std::vector<int64_t> counts_;  // results of a phase along each axis
  int64_t all_ = 1;
  bool activates_ = false;  // phases have the convolution's bias and activation
};

// conv(x, w, transposed)  =>  conv(x, some taps of w) for every phase, in turns      there are few phases, and each
// sees some of x
bool lower_phases(Graph& graph, PassContext& context, NodeId id) {
  const auto* op = graph.as<Conv>(id);
  if (!op || !op->transposed) return false;
  Insertion here(graph, id);
  PhaseLowering lowering(graph, context, id);
  if (!lowering.is_small()) return false;
  const NodeId results = lowering.results();
  return results != kNoNode && finish_conv(graph, id, results);
}

// relu(conv(x, w, transposed))  =>  conv(x, w, transposed, activation=relu)      the phases may have it; nothing else
// reads the conv
bool take_activation_behind_phases(Graph& graph, NodeId id) {
  const auto* unary = graph.as<Unary>(id);
  const auto activation = unary ? activation_of(unary->kind) : std::nullopt;
  const NodeId x = activation ? graph[id].operands[0] : kNoNode;
  const Conv* conv = activation && graph.single_use(x) ? graph.as<Conv>(x) : nullptr;
  if (!conv || !conv->transposed || !conv->is_plain()) return false;
  Conv op = *conv;
  op.activation = *activation;
  replace(graph, id, op, graph[x].operands);
  return true;
}

}  // namespace

Status lower_transposed_conv(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) { take_activation_behind_phases(graph, id); });
  for_each_node(graph, [&](NodeId id) { lowered += lower_phases(graph, context, id); });
  if (lowered)
    context.notes.add("{}", words::counted(lowered, "transposed convolution became plain ones",
                                           "transposed convolutions became plain ones"));
  return {};
}

}  // namespace rung::passes

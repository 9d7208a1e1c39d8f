// Reads the scores of an attention, as its author writes them: what is multiplied, scaled, capped, masked and joined.
// SPDX-License-Identifier: Apache-2.0
#include "passes/attention_scores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "passes/pass.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// select(m, s, low) is s + select(m, 0, lower) for numbers that no score reaches: the weight beside such a score is 0,
// and `lower` is a number beside which a score is nothing, so that a query without keys sees all of them alike. Where
// other masks are added it is so for -inf alone: two finite numbers as low make an infinity.
constexpr double kUnreached = -1e8;
constexpr double kLower = -1e30;

constexpr size_t kMostMasks = 2;  // a bias of positions, and a mask

// mul(x, number)  =>  x, and the number is a part of the scale
NodeId without_factor(const Graph& graph, NodeId x, double& scale) {
  const auto* binary = graph.as<Binary>(x);
  if (!binary || binary->kind != BinaryKind::mul) return x;
  const NodeId scaled = graph[x].operands[0];
  const auto factor = uniform_value(graph, graph[x].operands[1]);
  if (!factor || !(graph.type(scaled) == graph.type(x))) return x;
  scale *= *factor;
  return scaled;
}

Verdict trace_masked(const Graph& graph, NodeId sum, Scores& scores);
Verdict trace_selected(const Graph& graph, NodeId select, Scores& scores);

// Follows add(mask), select(mask, low), a cap c tanh(s / c), mul(scale), div(scale) and casts, in any order but with
// the masks outside the cap, down to the matmul of q and k'. `readers`: how many may read the scores.
Verdict trace_scores(const Graph& graph, NodeId x, Scores& scores, size_t readers = 1) {
  x = skip_float_casts(graph, x);
  if (graph[x].users.size() > readers) return reject("the scores have another reader");
  if (graph.is_output(x)) return reject("the scores are an output");
  if (graph.shape(x).rank() != 4)
    return reject(fmt::format("the scores have the shape {}, wanted 4 axes", graph.shape(x)));
  const std::vector<NodeId>& operands = graph[x].operands;
  if (graph.as<MatMul>(x)) {
    scores.q = without_factor(graph, operands[0], scores.scale);
    scores.k_transposed = without_factor(graph, operands[1], scores.scale);
    const bool has_heads = graph.shape(scores.q).rank() == 4 && graph.shape(scores.k_transposed).rank() == 4;
    return has_heads ? accept() : reject("queries and keys have no axis of heads");
  }
  const auto* unary = graph.as<Unary>(x);
  if (unary && unary->kind == UnaryKind::tanh && scores.softcap == 0 && scores.scale > 0) {
    scores.softcap = std::exchange(scores.scale, 1.0);
    return trace_scores(graph, operands[0], scores);
  }
  if (graph.as<Select>(x)) return trace_selected(graph, x, scores);
  const auto* binary = graph.as<Binary>(x);
  if (!binary) return reject(fmt::format("the scores come from {}", name_of(graph[x].op)));
  if (binary->kind == BinaryKind::mul || binary->kind == BinaryKind::div) {
    auto right = uniform_value(graph, operands[1]);
    auto left = binary->kind == BinaryKind::mul ? uniform_value(graph, operands[0]) : std::nullopt;
    if (!right && !left) return reject("the scores are scaled by more than one number");
    scores.scale *= binary->kind == BinaryKind::div ? 1.0 / *right : right ? *right : *left;
    NodeId scaled = operands[right ? 0 : 1];
    if (graph.shape(scaled) != graph.shape(x)) return reject("the scores are repeated by their scale");
    return trace_scores(graph, scaled, scores);
  }
  if (binary->kind != BinaryKind::add) return reject(fmt::format("the scores come from {}", name_of(graph[x].op)));
  return trace_masked(graph, x, scores);
}

// select(mask, scores, low), select(mask, low, scores)
Verdict trace_selected(const Graph& graph, NodeId select, Scores& scores) {
  const std::vector<NodeId>& operands = graph[select].operands;
  const auto is_low = [](std::optional<double> value) { return value && *value <= kUnreached; };
  const bool hides = is_low(uniform_value(graph, operands[1]));
  const NodeId kept = operands[hides ? 2 : 1];
  const auto low = uniform_value(graph, operands[hides ? 1 : 2]);
  if (!is_low(low)) return reject("the scores are selected, and what stands for the others is no low number");
  if (scores.softcap != 0) return reject("a mask is applied before the scores are capped");
  if (graph.type(select).dtype != DType::f32) return reject("the scores are selected in 16 bits");
  if (graph.shape(kept) != graph.shape(select)) return reject("the scores are repeated by their mask");
  Scores below = scores;
  below.masks.push_back({.values = operands[0], .scale = scores.scale, .low = std::min(*low, kLower), .hides = hides});
  Verdict traced = trace_scores(graph, kept, below);
  if (traced && below.masks.size() > 1 && *low != -INFINITY)
    return reject("the scores are selected, and masks are added to them");
  if (traced) scores = below;
  return traced;
}

// add(scores, mask), add(mask, scores)
Verdict trace_masked(const Graph& graph, NodeId sum, Scores& scores) {
  if (scores.softcap != 0) return reject("a mask is added before the scores are capped");
  if (scores.masks.size() == kMostMasks)
    return reject(fmt::format("more than {} masks are added to the scores", kMostMasks));
  const std::vector<NodeId>& operands = graph[sum].operands;
  Verdict traced = reject("the scores are repeated by their mask");
  for (size_t i : {size_t{1}, size_t{0}}) {  // authors write the scores first: that refusal is the one to tell
    if (graph.shape(operands[i]) != graph.shape(sum)) continue;
    Scores below = scores;
    below.masks.push_back({operands[1 - i], scores.scale});
    traced = trace_scores(graph, operands[i], below);
    if (traced) return scores = below, traced;
  }
  return traced;
}

// Returns whether `condition` says of each row of `scores` that no key is left: all are -inf.
// not(bool(max(float(not(scores == -inf)))))
bool says_no_key(const Graph& graph, NodeId condition, NodeId scores) {
  const auto is_not = [&](NodeId x) {
    return graph.as<Unary>(x) && graph.as<Unary>(x)->kind == UnaryKind::logical_not;
  };
  if (!is_not(condition)) return false;
  const NodeId any = graph[condition].operands[0];
  const NodeId largest = graph.as<Cast>(any) ? graph[any].operands[0] : kNoNode;
  const auto* reduce = largest == kNoNode ? nullptr : graph.as<Reduce>(largest);
  if (!reduce || reduce->kind != ReduceKind::max || axis_in(graph, graph[largest].operands[0], reduce->axis) != 3)
    return false;
  const NodeId numbers = graph[largest].operands[0];
  const NodeId is_key = graph.as<Cast>(numbers) ? graph[numbers].operands[0] : kNoNode;
  if (is_key == kNoNode || !is_not(is_key)) return false;
  const NodeId compared = graph[is_key].operands[0];
  const auto* binary = graph.as<Binary>(compared);
  return binary && binary->kind == BinaryKind::eq && graph[compared].operands[0] == scores &&
         uniform_value(graph, graph[compared].operands[1]) == -INFINITY;
}

// Returns whether `condition` hides the same keys from a softmax: select(condition, -inf, scores).
bool says_hidden(const Graph& graph, NodeId condition, NodeId scores) {
  return graph.as<Select>(scores) && graph[scores].operands[0] == condition &&
         uniform_value(graph, graph[scores].operands[1]) == -INFINITY;
}

// select(p is NaN, 0, p), select(no key is left, 0, p), select(hidden, 0, p)  =>  p      p is a softmax
// The guard gives a query without keys zeros, as an attention does.
NodeId without_guard(const Graph& graph, NodeId x) {
  if (!graph.as<Select>(x)) return x;
  const std::vector<NodeId>& operands = graph[x].operands;
  const NodeId condition = operands[0], softmax = operands[2];
  if (!graph.as<Softmax>(softmax) || uniform_value(graph, operands[1]) != 0.0 || !graph.single_use(x)) return x;
  const NodeId scores = graph[softmax].operands[0];
  const auto* binary = graph.as<Binary>(condition);
  const bool is_nan = binary && binary->kind == BinaryKind::ne && graph[condition].operands[0] == softmax &&
                      graph[condition].operands[1] == softmax;
  return is_nan || says_no_key(graph, condition, scores) || says_hidden(graph, condition, scores) ? softmax : x;
}

// sub(x, max(x))  =>  x      the largest of each row, which a softmax takes away itself
NodeId without_shift(const Graph& graph, NodeId x) {
  const auto* binary = graph.as<Binary>(x);
  if (!binary || binary->kind != BinaryKind::sub || !graph.single_use(x)) return x;
  const NodeId shifted = graph[x].operands[0], largest = graph[x].operands[1];
  const auto* reduce = graph.as<Reduce>(largest);
  const bool is_largest = reduce && reduce->kind == ReduceKind::max && reduce->keep_dim &&
                          graph[largest].operands[0] == shifted && graph.single_use(largest) &&
                          axis_in(graph, shifted, reduce->axis) == graph.shape(shifted).rank() - 1;
  return is_largest && graph[shifted].users.size() == 2 && !graph.is_output(shifted) ? shifted : x;
}

// concat(scores, extra)      one more score for each query, whose weight nobody reads
Verdict take_extra(const Graph& graph, NodeId joined, Scores& scores, NodeId& rest) {
  const auto* concat = graph.as<Concat>(joined);
  const std::vector<NodeId>& parts = graph[joined].operands;
  if (!concat || graph.shape(joined).rank() != 4 || parts.size() != 2 || axis_in(graph, joined, concat->axis) != 3 ||
      graph.shape(parts[1])[3] != 1)
    return reject("a weight is left out, whose score is not joined to the others");
  scores.extra = parts[1], rest = parts[0];
  return accept();
}

}  // namespace

NodeId skip_float_casts(const Graph& graph, NodeId x) {
  while (graph.as<Cast>(x) && graph.single_use(x) && is_float(graph.type(graph[x].operands[0]).dtype))
    x = graph[x].operands[0];
  return x;
}

std::optional<Weights> weights_behind(const Graph& graph, NodeId x) {
  Weights found;
  x = skip_float_casts(graph, x);
  const auto* slice = graph.as<Slice>(x);
  if (slice && graph.single_use(x) && slice->begin == 0 && slice->step == 1) {
    const NodeId source = skip_float_casts(graph, graph[x].operands[0]);
    const int last = graph.shape(source).rank() - 1;
    found.has_extra = graph.as<Softmax>(source) && axis_in(graph, source, slice->axis) == last &&
                      graph.shape(source)[last] == slice->end + 1;
    if (found.has_extra) x = source;
  }
  found.softmax = without_guard(graph, x);
  if (!graph.as<Softmax>(found.softmax)) return std::nullopt;
  if (found.softmax != x) found.readers = 3;  // a guard compares the weights or the scores
  return found;
}

Verdict trace_scores_of(const Graph& graph, const Weights& weights, Scores& scores) {
  const NodeId read = skip_float_casts(graph, graph[weights.softmax].operands[0]);
  const NodeId x = without_shift(graph, read);
  const size_t readers = x == read ? weights.readers : 2;
  if (!weights.has_extra) return trace_scores(graph, x, scores, readers);
  NodeId rest = kNoNode;
  if (Verdict taken = take_extra(graph, x, scores, rest); !taken) return taken;
  return trace_scores(graph, rest, scores);
}

}  // namespace rung::passes

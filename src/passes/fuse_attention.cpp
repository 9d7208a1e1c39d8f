// Turns softmax(scale q k' + mask) v, as its author writes it, into one op over [batch, tokens, heads, size].
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/sink_transpose.hpp"

namespace rung::passes {
namespace {

const Dims kSwapHeads{0, 2, 1, 3};  // [B,H,S,D] <-> [B,S,H,D]
const Dims kKeysFirst{0, 3, 1, 2};  // [B,H,D,K] -> [B,K,H,D]
const Dims kSwapInner{0, 1, 3, 2};

// A tensor that is added to the scores, times a number; or, where `low` is given, what says which scores are kept.
struct Mask {
  NodeId values = kNoNode;
  double scale = 1;
  std::optional<double> low = {};
};

// select(m, s, low) is s + select(m, 0, low) for numbers as low as this, beside which a score is nothing, and where no
// other mask is added: two such numbers make an infinity.
constexpr double kLow = -1e30;

struct Scores {
  NodeId q = kNoNode, k_transposed = kNoNode;  // [B,H,S,D], [B,H,D,K]
  std::vector<Mask> masks;
  double softcap = 0;  // 0: none
  double scale = 1;    // after a cap: of its argument
};

constexpr size_t kMostMasks = 2;  // a bias of positions, and a mask

NodeId skip_float_casts(const Graph& graph, NodeId x) {
  while (graph.as<Cast>(x) && graph.single_use(x) && is_float(graph.type(graph[x].operands[0]).dtype))
    x = graph[x].operands[0];
  return x;
}

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

// select(mask, scores, low)
Verdict trace_selected(const Graph& graph, NodeId select, Scores& scores) {
  const std::vector<NodeId>& operands = graph[select].operands;
  const auto low = uniform_value(graph, operands[2]);
  if (!low || *low > kLow) return reject("the scores are selected, and what stands for the others is no low number");
  if (scores.softcap != 0) return reject("a mask is applied before the scores are capped");
  if (graph.type(select).dtype != DType::f32) return reject("the scores are selected in 16 bits");
  if (graph.shape(operands[1]) != graph.shape(select)) return reject("the scores are repeated by their mask");
  Scores below = scores;
  below.masks.push_back({.values = operands[0], .scale = scores.scale, .low = *low});
  Verdict traced = trace_scores(graph, operands[1], below);
  if (traced && below.masks.size() > 1) return reject("the scores are selected, and masks are added to them");
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

// select(p is NaN, 0, p), select(no key is left, 0, p)  =>  p      p is a softmax
// The guard gives a query without keys zeros, as an attention does.
NodeId without_guard(const Graph& graph, NodeId x) {
  if (!graph.as<Select>(x)) return x;
  const std::vector<NodeId>& operands = graph[x].operands;
  const NodeId condition = operands[0], softmax = operands[2];
  if (!graph.as<Softmax>(softmax) || uniform_value(graph, operands[1]) != 0.0 || !graph.single_use(x)) return x;
  const auto* binary = graph.as<Binary>(condition);
  const bool is_nan = binary && binary->kind == BinaryKind::ne && graph[condition].operands[0] == softmax &&
                      graph[condition].operands[1] == softmax;
  return is_nan || says_no_key(graph, condition, graph[softmax].operands[0]) ? softmax : x;
}

// reshape(broadcast(reshape(x)))  =>  x      where each of x's heads stands several times in a row; heads: axis 1 of 4
// or, behind the tokens, axis 2
NodeId without_repeats(const Graph& graph, NodeId x, int heads = 1) {
  if (!graph.as<Reshape>(x)) return x;
  NodeId repeated = graph[x].operands[0];
  if (!graph.as<Broadcast>(repeated)) return x;
  NodeId apart = graph[repeated].operands[0];
  if (!graph.as<Reshape>(apart)) return x;
  NodeId source = graph[apart].operands[0];
  const Shape one = graph.shape(source), &r = graph.shape(repeated);
  if (one.rank() != 4 || r.rank() != 5) return x;
  Shape wanted_apart = one, wanted_repeated = one, wanted = one;
  wanted_apart.insert(heads + 1, 1);
  wanted_repeated.insert(heads + 1, r[heads + 1]);
  wanted[heads] *= r[heads + 1];
  const bool parts = graph.shape(apart) == wanted_apart && r == wanted_repeated;
  return parts && graph.shape(x) == wanted ? source : x;
}

class Fuser {
 public:
  Fuser(Graph& graph, PassContext& context) : graph_(graph), context_(context), sinker_(graph) {}

  // transpose, matmul, scale, mask, softmax, matmul, transpose  =>  attention
  // The softmax runs over the keys, and nothing else reads the nodes between. Where the mask leaves a query no key, the
  // softmax as written is NaN and an attention is zero, on purpose: other fused attentions give zero, too. On such
  // inputs the judge, which wants each NaN in its place, does not accept one for the other.
  bool fuse(NodeId id) {
    if (!graph_.as<MatMul>(id)) return false;
    const NodeId guarded = skip_float_casts(graph_, graph_[id].operands[0]), v = graph_[id].operands[1];
    const NodeId weights = without_guard(graph_, guarded);
    if (!graph_.as<Softmax>(weights)) return false;
    if (graph_.shape(id).rank() == 3) return fuse_without_batch(id);
    const size_t readers = weights == guarded ? 1 : 3;  // a guard compares the weights or the scores
    Scores scores;
    Verdict fits = has_plain_weights(id, weights, readers);
    if (fits) fits = trace_scores(graph_, graph_[weights].operands[0], scores, readers);
    if (fits) fits = has_plain_batch(scores, v, id);
    if (!fits) return context_.notes.misses.push_back({graph_[weights].label, fits.reason}), false;
    return build(id, scores, v);
  }

  // softmax(q k') v over [heads, tokens, size]  =>  the same with a batch of one before, if that becomes an attention
  bool fuse_without_batch(NodeId id) {
    Insertion here(graph_, id);
    const NodeId with_batch = lifted(id);
    const NodeId back = graph_.add(Reshape{graph_.shape(id)}, {with_batch}, graph_[id].label);
    if (fuse(with_batch)) return replace_with(graph_, id, back);
    erase_unused(graph_, back);
    return false;
  }

  // attention(transpose(q), transpose(repeat(k)), transpose(repeat(v)))  =>  attention(q, k, v)
  // One segment, as authors write it who call attention by its name; keys that are joined become several. Operands that
  // are no transposes stand right already.
  bool read_where_they_stand(NodeId id) {
    if (!graph_.as<Attention>(id) || graph_.as<Attention>(id)->segments != 1) return false;
    const Attention op = *graph_.as<Attention>(id);
    const std::vector<NodeId> operands = graph_[id].operands;
    const size_t first = op.first_key();
    std::vector<NodeId> read = operands;
    read[0] = where_it_stands(operands[0], false);
    const bool shares =
        heads_behind(operands[first]) && heads_behind(operands[first]) == heads_behind(operands[first + 1]);
    for (size_t i : {first, first + 1}) read[i] = where_it_stands(operands[i], shares);
    const bool changes = std::ranges::any_of(std::array{size_t{0}, first, first + 1}, [&](size_t i) {
      const auto from = unturned(read[i]);
      return read[i] != operands[i] && (!from || *from != *unturned(operands[i]));
    });
    const std::vector<NodeId> parts = segments_of(read[first], read[first + 1]);
    if (!parts.empty()) {
      Attention several = op;
      several.segments = static_cast<int64_t>(parts.size() / 2);
      std::vector<NodeId> apart(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(first));
      apart.insert(apart.end(), parts.begin(), parts.end());
      if (replace(id, several, apart)) return true;
    }
    return changes && replace(id, op, read);
  }

 private:
  // Returns x as [1, ...]: products, the softmax, masks and scales of scores are computed so, other values are
  // reshaped.
  NodeId lifted(NodeId x) {
    const Node node = graph_[x];
    Op op = node.op;
    if (auto* softmax = std::get_if<Softmax>(&op))
      softmax->axis = axis_in(graph_, x, softmax->axis) + 1;
    else if (!(graph_.as<MatMul>(x) || graph_.as<Binary>(x)) || !graph_.single_use(x))
      return with_leading_one(x);
    std::vector<NodeId> operands = node.operands;
    for (NodeId& operand : operands)
      if (graph_.shape(operand).rank() == 3) operand = lifted(operand);
    return graph_.add(std::move(op), std::move(operands), node.label);
  }

  NodeId with_leading_one(NodeId x) {
    Dims shape = graph_.shape(x);
    shape.insert(0, 1);
    return graph_.add(Reshape{shape}, {x}, graph_[x].label);
  }

  // The value of which an attention's operand is the transpose; none: it is no transpose of heads.
  std::optional<NodeId> unturned(NodeId operand) const {
    const auto* transpose = graph_.as<Transpose>(operand);
    if (!transpose || !(transpose->permutation == kSwapHeads)) return std::nullopt;
    return graph_[operand].operands[0];
  }
  // The shape of an operand before its heads are repeated and turned.
  std::optional<Shape> heads_behind(NodeId operand) const {
    const auto source = unturned(operand);
    return source ? std::optional(graph_.shape(without_repeats(graph_, *source))) : std::nullopt;
  }
  NodeId where_it_stands(NodeId operand, bool without) {
    const auto source = unturned(operand);
    return source ? sinker_.sink(without ? without_repeats(graph_, *source) : *source, kSwapHeads) : operand;
  }

  Verdict has_plain_weights(NodeId id, NodeId weights, size_t readers) const {
    if (graph_.shape(id).rank() != 4 || graph_.shape(graph_[id].operands[1]).rank() != 4)
      return reject(fmt::format("the result has the shape {}, wanted 4 axes, one of heads", graph_.shape(id)));
    if (axis_in(graph_, weights, graph_.as<Softmax>(weights)->axis) != 3)
      return reject("the softmax does not run over the keys");
    if (graph_.is_output(weights)) return reject("the weights are an output");
    if (graph_[weights].users.size() > readers) return reject("the weights have another reader");
    return accept();
  }

  // Matmul broadcasts batches and heads; attention does not.
  Verdict has_plain_batch(const Scores& s, NodeId v, NodeId id) const {
    const Shape &q = graph_.shape(s.q), &k = graph_.shape(s.k_transposed), &values = graph_.shape(v),
                &out = graph_.shape(id);
    auto agrees = [&](const Shape& x) { return x[0] == out[0] && x[1] == out[1]; };
    if (!agrees(q) || !agrees(k) || !agrees(values))
      return reject(fmt::format("queries {}, keys {} and values {} differ in batch or heads", q, k, values));
    if (q[3] != values[3])
      return reject(fmt::format("a head has {} columns of queries and {} of values", q[3], values[3]));
    const DType dtype = graph_.type(id).dtype;
    if (graph_.type(s.q).dtype != dtype || graph_.type(v).dtype != dtype)
      return reject(fmt::format("queries {}, values {} and the result {} are of different types",
                                graph_.type(s.q).dtype, graph_.type(v).dtype, dtype));
    return accept();
  }

  NodeId keys_of(NodeId k_transposed) {
    const auto* transpose = graph_.as<Transpose>(k_transposed);
    if (transpose && transpose->permutation == kSwapInner) {
      NodeId k = graph_[k_transposed].operands[0];
      return sinker_.sink(without_repeats(graph_, k), kSwapHeads);
    }
    return sinker_.sink(k_transposed, kKeysFirst);
  }

  bool build(NodeId id, const Scores& scores, NodeId v) {
    NodeId keys = keys_of(scores.k_transposed), values = sinker_.sink(without_repeats(graph_, v), kSwapHeads);
    if (graph_.shape(keys)[2] != graph_.shape(values)[2]) {  // the repeats of only one of them were recognised
      keys = sinker_.sink(scores.k_transposed, kKeysFirst);
      values = sinker_.sink(v, kSwapHeads);
    }
    const NodeId one_k = without_repeats(graph_, keys, 2), one_v = without_repeats(graph_, values, 2);
    if (graph_.shape(one_k) == graph_.shape(one_v)) keys = one_k, values = one_v;
    Insertion here(graph_, id);
    std::vector<NodeId> operands{sinker_.sink(scores.q, kSwapHeads)};
    const auto softcap = static_cast<float>(scores.softcap);
    Attention op{.scale = static_cast<float>(softcap == 0 ? scores.scale : scores.scale * scores.softcap),
                 .softcap = softcap};
    if (!scores.masks.empty()) op.slots.put(operands, AttentionSlot::mask, mask_of(scores));
    return with_segments(id, op, operands, keys, values) || with_one_segment(id, op, operands, keys, values);
  }

  NodeId scaled(const Mask& mask) {
    NodeId values = mask.low ? numbers_for(mask.values, *mask.low) : cast_to(graph_, mask.values, DType::f32);
    if (mask.scale == 1.0) return values;
    NodeId factor = graph_.literal("mask_scale", Tensor::of<float>({}, {static_cast<float>(mask.scale)}));
    return graph_.add(Binary{BinaryKind::mul}, {values, factor});
  }

  NodeId number(double value) { return graph_.literal("mask", Tensor::of<float>({}, {static_cast<float>(value)})); }

  // select(kept, 0, low), once for all attentions that read it.
  NodeId numbers_for(NodeId kept, double low) {
    NodeId& numbers = numbers_.try_emplace({kept, low}, kNoNode).first->second;
    if (numbers == kNoNode || !graph_[numbers].alive)
      numbers = graph_.add(Select{}, {kept, number(0), number(low)}, graph_[kept].label);
    return numbers;
  }

  NodeId mask_of(const Scores& scores) {
    NodeId sum = scaled(scores.masks[0]);
    for (size_t i = 1; i < scores.masks.size(); ++i)
      sum = graph_.add(Binary{BinaryKind::add}, {scaled(scores.masks[i]), sum});
    return sum;
  }

  bool replace(NodeId id, const Attention& op, const std::vector<NodeId>& operands) {
    if (!context_.kernel_for(graph_, op, operands)) return false;
    Insertion here(graph_, id);
    return replace_with(graph_, id, graph_.add(op, operands, graph_[id].label));
  }

  // The parts of concat(cached keys, new keys) and of their values in turn, which an attention reads without a copy;
  // none: they are not joined, or of other parts.
  std::vector<NodeId> segments_of(NodeId keys, NodeId values) const {
    const auto *k = graph_.as<Concat>(keys), *v = graph_.as<Concat>(values);
    if (!k || !v || axis_in(graph_, keys, k->axis) != 1 || axis_in(graph_, values, v->axis) != 1) return {};
    const std::vector<NodeId>&k_parts = graph_[keys].operands, &v_parts = graph_[values].operands;
    if (k_parts.size() != v_parts.size()) return {};
    std::vector<NodeId> parts;
    for (size_t i = 0; i < k_parts.size(); ++i) {
      if (!(graph_.type(k_parts[i]) == graph_.type(v_parts[i]))) return {};
      parts.insert(parts.end(), {k_parts[i], v_parts[i]});
    }
    return parts;
  }

  bool with_segments(NodeId id, Attention op, std::vector<NodeId> operands, NodeId keys, NodeId values) {
    const std::vector<NodeId> parts = segments_of(keys, values);
    if (parts.empty()) return false;
    operands.insert(operands.end(), parts.begin(), parts.end());
    op.segments = static_cast<int64_t>(parts.size() / 2);
    return finish(id, op, std::move(operands));
  }

  bool with_one_segment(NodeId id, Attention op, std::vector<NodeId> operands, NodeId keys, NodeId values) {
    if (!(graph_.type(keys) == graph_.type(values))) return false;
    operands.insert(operands.end(), {keys, values});
    return finish(id, op, std::move(operands));
  }

  bool finish(NodeId id, const Attention& op, std::vector<NodeId> operands) {
    if (!context_.kernel_for(graph_, op, operands)) return false;
    NodeId attention = graph_.add(op, std::move(operands), graph_[id].label);
    NodeId back = graph_.add(Transpose{kSwapHeads}, {attention}, graph_[id].label);
    std::vector<NodeId> users = graph_[id].users;
    replace_with(graph_, id, back);
    for (NodeId user : users) {
      const auto* transpose = graph_.as<Transpose>(user);
      if (graph_[user].alive && transpose && transpose->permutation == kSwapHeads)
        replace_with(graph_, user, attention);
    }
    return true;
  }

  Graph& graph_;
  PassContext& context_;
  TransposeSinker sinker_;
  std::map<std::pair<NodeId, double>, NodeId> numbers_;
};

}  // namespace

Status fuse_attention(Graph& graph, PassContext& context) {
  Fuser fuser(graph, context);
  size_t fused = 0;
  size_t read = 0;
  for_each_node(graph, [&](NodeId id) {
    if (fuser.fuse(id))
      ++fused;
    else
      read += fuser.read_where_they_stand(id);
  });
  if (read) context.notes.add("{} read heads where they stand", words::counted(read, "attention"));
  if (fused) context.notes.add("{}", words::counted(fused, "attention became one op", "attentions became one op each"));
  return {};
}

}  // namespace rung::passes

// Turns softmax(scale q k' + mask) v, as its author writes it, into one op over [batch, tokens, heads, size].
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/words.hpp"
#include "passes/attention_batches.hpp"
#include "passes/attention_padding.hpp"
#include "passes/attention_scores.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/sink_transpose.hpp"

namespace rung::passes {
namespace {

const Dims kSwapHeads{0, 2, 1, 3};  // [B,H,S,D] <-> [B,S,H,D]
const Dims kKeysFirst{0, 3, 1, 2};  // [B,H,D,K] -> [B,K,H,D]
const Dims kSwapInner{0, 1, 3, 2};

// Transposes the last two axes.
Dims swapping_inner(int rank) {
  Dims permutation;
  for (int axis = 0; axis < rank; ++axis) permutation.push_back(axis);
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
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
    const NodeId v = graph_[id].operands[1];
    const auto weights = weights_behind(graph_, graph_[id].operands[0]);
    if (!weights) return fuse_turned(id);
    if (graph_.shape(id).rank() == 3) return fuse_without_batch(id, weights->softmax);
    Scores scores;
    Verdict fits = has_plain_weights(id, *weights);
    if (fits) fits = trace_scores_of(graph_, *weights, scores);
    if (fits) fits = has_plain_batch(scores, v, id);
    if (!fits) return context_.notes.misses.push_back({graph_[weights->softmax].label, fits.reason}), false;
    return build(id, scores, v);
  }

  // v' transpose(weights)  =>  transpose(weights transpose(v'))      weights: a softmax that nothing else reads
  bool fuse_turned(NodeId id) {
    const NodeId turned = skip_float_casts(graph_, graph_[id].operands[1]);
    const auto* transpose = graph_.as<Transpose>(turned);
    if (!transpose || !graph_.single_use(turned) || !weights_behind(graph_, graph_[turned].operands[0])) return false;
    const int rank = graph_.shape(id).rank();
    if (rank < 3 || graph_.shape(turned).rank() != rank || !(transpose->permutation == swapping_inner(rank)))
      return false;
    Insertion here(graph_, id);
    const std::string& label = graph_[id].label;
    const NodeId weights = cast_to(graph_, graph_[turned].operands[0], graph_.type(graph_[id].operands[1]).dtype);
    const NodeId v = transposed(graph_, graph_[id].operands[0], swapping_inner(rank), label);
    const NodeId product = graph_.add(MatMul{}, {weights, v}, label);
    replace_with(graph_, id, graph_.add(Transpose{swapping_inner(rank)}, {product}, label));
    return fuse(product);
  }

  // softmax(q k') v over [heads, tokens, size]  =>  the same with an axis of the batch, if that becomes an attention
  // Where scores [B,H,S,K] are reshaped for the softmax, it is better done on them in any case.
  bool fuse_without_batch(NodeId id, NodeId softmax) {
    Insertion here(graph_, id);
    const std::optional<Dims> batch = batch_of(softmax);
    const NodeId apart = lifted(id, batch.value_or(Dims{1, graph_.shape(softmax)[0]}));
    const NodeId back = graph_.add(Reshape{graph_.shape(id)}, {apart}, graph_[id].label);
    if (batch) return replace_with(graph_, id, back), fuse(apart);
    if (fuse(apart)) return replace_with(graph_, id, back);
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
  // Returns x [N,...] as [B,H,...]: products, softmax, masks and scales of scores are computed so, other values are
  // reshaped.
  NodeId lifted(NodeId x, const Dims& batch) {
    const Node node = graph_[x];
    Op op = node.op;
    if (auto* softmax = std::get_if<Softmax>(&op))
      softmax->axis = axis_in(graph_, x, softmax->axis) + 1;
    else if (!is_lifted(x))
      return with_batch(graph_, x, batch);
    std::vector<NodeId> operands = node.operands;
    for (NodeId& operand : operands)
      if (graph_.shape(operand).rank() == 3) operand = lifted(operand, batch);
    return graph_.add(std::move(op), std::move(operands), node.label);
  }
  bool is_lifted(NodeId x) const {
    const bool is_computed = graph_.as<MatMul>(x) || graph_.as<Binary>(x) || graph_.as<Unary>(x) ||
                             graph_.as<Select>(x) || graph_.as<Cast>(x);
    return is_computed && graph_.single_use(x);
  }

  // Returns B and H of scores reshape(s: [B,H,S,K]) whose batch and heads are one axis; none: they are no such scores.
  std::optional<Dims> batch_of(NodeId softmax) const {
    const NodeId scores = skip_float_casts(graph_, graph_[softmax].operands[0]);
    const Shape& one = graph_.shape(scores);
    if (graph_.as<Reshape>(scores)) {
      const Shape& apart = graph_.shape(graph_[scores].operands[0]);
      if (apart.rank() == 4 && apart[2] == one[1] && apart[3] == one[2]) return Dims{apart[0], apart[1]};
    }
    return std::nullopt;
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

  Verdict has_plain_weights(NodeId id, const Weights& of) const {
    const NodeId weights = of.softmax;
    if (graph_.shape(id).rank() != 4 || graph_.shape(graph_[id].operands[1]).rank() != 4)
      return reject(fmt::format("the result has the shape {}, wanted 4 axes, one of heads", graph_.shape(id)));
    if (axis_in(graph_, weights, graph_.as<Softmax>(weights)->axis) != 3)
      return reject("the softmax does not run over the keys");
    if (graph_.is_output(weights)) return reject("the weights are an output");
    if (graph_[weights].users.size() > of.readers) return reject("the weights have another reader");
    return accept();
  }

  // Matmul broadcasts batches and heads; of attention all heads of queries may share one of keys and values.
  Verdict has_plain_batch(const Scores& s, NodeId v, NodeId id) const {
    const Shape &q = graph_.shape(s.q), &k = graph_.shape(s.k_transposed), &values = graph_.shape(v),
                &out = graph_.shape(id);
    auto agrees = [&](const Shape& x, int64_t heads) { return x[0] == out[0] && x[1] == heads; };
    const int64_t heads = k[1] == 1 && values[1] == 1 ? 1 : out[1];
    if (!agrees(q, out[1]) || !agrees(k, heads) || !agrees(values, heads))
      return reject(fmt::format("queries {}, keys {} and values {} differ in batch or heads", q, k, values));
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
    NodeId mask = scores.masks.empty() ? kNoNode : mask_of(scores);
    if (scores.extra != kNoNode) mask = mask_with_extra(graph_, mask, scores.extra, graph_.shape(keys)[1]);
    if (mask != kNoNode) op.slots.put(operands, AttentionSlot::mask, mask);
    return with_segments(id, op, operands, segments_with_extra(scores, keys, values)) ||
           with_segments(id, op, operands, one_segment_with_extra(scores, keys, values));
  }

  // The keys and values of each segment in turn, that of the extra score last.
  std::vector<NodeId> segments_with_extra(const Scores& scores, NodeId keys, NodeId values) {
    std::vector<NodeId> parts = segments_of(keys, values);
    if (parts.empty()) parts = {keys, values};
    if (scores.extra != kNoNode) parts.insert(parts.end(), {key_of_zeros(graph_, keys), key_of_zeros(graph_, values)});
    return parts;
  }
  std::vector<NodeId> one_segment_with_extra(const Scores& scores, NodeId keys, NodeId values) {
    if (scores.extra == kNoNode) return {keys, values};
    return {graph_.add(Concat{1}, {keys, key_of_zeros(graph_, keys)}),
            graph_.add(Concat{1}, {values, key_of_zeros(graph_, values)})};
  }

  NodeId scaled(const Mask& mask) {
    NodeId values = mask.low ? numbers_for(mask) : cast_to(graph_, mask.values, DType::f32);
    if (mask.scale == 1.0) return values;
    NodeId factor = graph_.literal("mask_scale", Tensor::of<float>({}, {static_cast<float>(mask.scale)}));
    return graph_.add(Binary{BinaryKind::mul}, {values, factor});
  }

  NodeId number(double value) { return graph_.literal("mask", Tensor::of<float>({}, {static_cast<float>(value)})); }

  // select(kept, 0, low) or select(hidden, low, 0), once for all attentions that read it.
  NodeId numbers_for(const Mask& mask) {
    NodeId& numbers = numbers_.try_emplace({mask.values, *mask.low, mask.hides}, kNoNode).first->second;
    if (numbers == kNoNode || !graph_[numbers].alive) {
      std::array kept{number(0), number(*mask.low)};
      if (mask.hides) std::swap(kept[0], kept[1]);
      numbers = graph_.add(Select{}, {mask.values, kept[0], kept[1]}, graph_[mask.values].label);
    }
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
      if (graph_.shape(k_parts[i])[1] != graph_.shape(v_parts[i])[1]) return {};
      parts.insert(parts.end(), {k_parts[i], v_parts[i]});
    }
    return parts;
  }

  // Keys and values have as many columns as the wider of both: zeros, which add nothing to scores, and columns of the
  // result that are left out.
  bool with_segments(NodeId id, Attention op, std::vector<NodeId> operands, const std::vector<NodeId>& parts) {
    op.segments = static_cast<int64_t>(parts.size() / 2);
    const int64_t of_values = graph_.shape(parts[1])[3];
    const int64_t columns = std::max(graph_.shape(parts[0])[3], of_values);
    operands[0] = with_columns(graph_, operands[0], columns);
    for (const NodeId part : parts) operands.push_back(with_columns(graph_, part, columns));
    for (size_t i = op.first_key(); i < operands.size(); i += 2)
      if (!(graph_.type(operands[i]) == graph_.type(operands[i + 1]))) return false;
    if (!context_.kernel_for(graph_, op, operands)) return false;
    NodeId attention = graph_.add(op, std::move(operands), graph_[id].label);
    if (columns != of_values) attention = graph_.add(Slice{.axis = 3, .end = of_values}, {attention}, graph_[id].label);
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
  std::map<std::tuple<NodeId, double, bool>, NodeId> numbers_;
};

}  // namespace

Status fuse_attention(Graph& graph, PassContext& context) {
  Fuser fuser(graph, context);
  size_t fused = 0;
  size_t read = 0;
  for_each_node(graph, [&](NodeId id) { settle_batch_of_scores(graph, id); });
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

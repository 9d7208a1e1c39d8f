// Moves size from the channels of what products of 8 bits read into their weights: a channel that is much larger than
// others takes most of the steps of its row's scale, and the others are then rounded to few.
//   s_j = max |x_j|^a / max |w_j|^(1 - a)      x_j / s_j where x is made, w_j * s_j      (SmoothQuant)
// The factors are powers of two, with which every product stays the number that it was.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "passes/asked_bits.hpp"
#include "passes/channel_constants.hpp"
#include "passes/channel_readers.hpp"
#include "passes/constant_copy.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr const char* kNoRoom = "what makes its channels is no constant of f32 or bf16";  // f16 has no room for factors

class Smoother {
 public:
  Smoother(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  Status run() {
    RUNG_CHECK(check_channels());
    for (const ChannelReaders& all : channel_readers(graph_, [&](NodeId id) { return is_asked(id); })) smooth(all);
    if (products_)
      context_.notes.add("{} smoothed channels", words::counted(products_, "product reads", "products read"));
    return {};
  }

 private:
  double alpha_of(NodeId linear) const { return precision_at(context_.precision, graph_[linear].label).smooth; }
  const std::vector<float>& sizes_at(NodeId linear) const {
    return context_.channels.find(graph_[linear].label)->second;
  }
  bool is_asked(NodeId id) const {
    return asked_bits(graph_, constant_, context_.precision, id).both && alpha_of(id) > 0 &&
           context_.channels.contains(graph_[id].label) && has_room(graph_[id].operands[1]);
  }
  bool has_room(NodeId id) const {
    const DType dtype = graph_.type(id).dtype;
    return constant_[id] && (dtype == DType::f32 || dtype == DType::bf16);
  }
  Status check_channels() const {
    for (NodeId id : graph_.order()) {
      if (!is_asked(id)) continue;
      const int64_t wanted = graph_.shape(graph_[id].operands[1])[1];
      if (const size_t got = sizes_at(id).size(); static_cast<int64_t>(got) != wanted)
        return mismatch("recipe: field 'channel_calibration': '{}': got {} channels, wanted {}", graph_[id].label, got,
                        wanted);
    }
    return {};
  }

  void smooth(const ChannelReaders& all) {
    constant_ = constant_nodes(graph_);  // those before have added some
    const Op& op = graph_[all.source].op;
    const bool is_norm = std::holds_alternative<LayerNorm>(op) || std::holds_alternative<RmsNorm>(op);
    const Verdict done = is_norm                                 ? smooth_norm(all)
                         : std::holds_alternative<NthResult>(op) ? smooth_left_norm(all)
                         : std::holds_alternative<Attention>(op) ? smooth_attention(all)
                                                                 : smooth_linear(all);
    if (done)
      products_ += all.readers.size();
    else  // a search for precision leaves these alone
      for (const auto& [reader, value] : all.readers)
        context_.notes.misses.push_back({graph_[reader].label, done.reason});
  }

  // linear(norm(x, g, b), w)  =>  linear(norm(x, g / s, b / s), w * s)      g and b are constant. Readers of another
  // kind keep the norm, which then runs once more.
  Verdict smooth_norm(const ChannelReaders& all) {
    Op op = graph_[all.source].op;
    std::vector<NodeId> operands = graph_[all.source].operands;
    std::vector<size_t> scaled{1};
    if (const auto* norm = std::get_if<LayerNorm>(&op))
      scaled = {norm->slots.before(LayerNormSlot::weight), norm->slots.before(LayerNormSlot::bias)};
    for (const size_t i : scaled)
      if (!has_room(operands[i])) return reject(kNoRoom);
    Insertion here(graph_, all.source);
    auto* rms = std::get_if<RmsNorm>(&op);
    if (const float offset = rms ? std::exchange(rms->weight_offset, 0.0f) : 0; offset != 0) {
      operands[1] = graph_.add(
          Binary{BinaryKind::add},
          {cast_to(graph_, operands[1], DType::f32), graph_.literal("offset", Tensor::of<float>({}, {offset}))},
          graph_[operands[1]].label);
      if (!context_.kernel_for(graph_, op, operands)) return reject("no kernel reads the norm's weights in f32");
    }
    const NodeId factors = factors_of(all, {});
    for (const size_t i : scaled) operands[i] = over_channels(graph_, operands[i], factors);
    const NodeId by = graph_.add(std::move(op), std::move(operands), graph_[all.source].label);
    multiply_weights(all, factors);
    read(all, by);
    return accept();
  }

  // The same of the norm that a linear leaves for its readers.
  Verdict smooth_left_norm(const ChannelReaders& all) {
    const NodeId linear = graph_[all.source].operands[0];
    const auto* op = graph_.as<Linear>(linear);
    const auto is_normed = [&](NodeId user) {
      const auto* further = graph_.as<NthResult>(user);
      return further && further->index == 1;
    };
    if (!op || !is_normed(all.source)) return reject("it reads what is no norm's");
    if (!all.alone || std::ranges::count_if(graph_[linear].users, is_normed) > 1)
      return reject("others read the norm that a product leaves, too");
    const size_t weight = op->slots.before(LinearSlot::norm_weight);
    if (!has_room(graph_[linear].operands[weight])) return reject(kNoRoom);
    Insertion here(graph_, linear);
    const NodeId factors = factors_of(all, {});
    graph_.set_operand(linear, weight, over_channels(graph_, graph_[linear].operands[weight], factors));
    multiply_weights(all, factors);
    return accept();
  }

  // linear(attention(q, k, linear(x, v)), w)  =>  linear(attention(q, k, linear(x, v / s)), w * s)      heads of
  // queries that share values share their factors
  Verdict smooth_attention(const ChannelReaders& all) {
    const auto rows = value_rows(graph_, constant_, all.source);
    if (!rows || !all.alone) return reject("others read the attention or its values, too, or they are no product's");
    const int64_t width = graph_.shape(all.source).back();
    return smooth_rows(all, *rows, {.shared = graph_.shape(all.source)[2] * width / rows->count(), .width = width});
  }
  // linear(linear(x, v), w)  =>  linear(linear(x, v / s), w * s)      of a gated product the factor without a function
  Verdict smooth_linear(const ChannelReaders& all) {
    const auto rows = graph_.as<Linear>(all.source) ? result_rows(graph_, constant_, all.source) : std::nullopt;
    if (!rows || !all.alone) return reject("no constants make channel by channel what such products alone read");
    return smooth_rows(all, *rows, {});
  }
  Verdict smooth_rows(const ChannelReaders& all, const ChannelRows& rows, const SharedChannels& heads) {
    const auto& op = *graph_.as<Linear>(rows.linear);
    std::vector<size_t> divided{1};
    if (op.has(LinearSlot::bias)) divided.push_back(op.slots.before(LinearSlot::bias));
    for (const size_t i : divided)
      if (!has_room(graph_[rows.linear].operands[i])) return reject(kNoRoom);
    Insertion here(graph_, rows.linear);
    const NodeId factors = factors_of(all, heads);
    for (const size_t i : divided) {
      const NodeId old = graph_[rows.linear].operands[i];
      const NodeId some = rows_of(graph_, old, rows.begin, rows.end);
      const bool is_column = graph_.shape(some).rank() == 1;
      const NodeId by_row = is_column ? factors : reshaped(graph_, factors, {rows.count(), 1});
      graph_.set_operand(rows.linear, i, with_rows(graph_, old, rows, over_channels(graph_, some, by_row)));
    }
    multiply_weights(all, heads.repeated(graph_, factors));
    return accept();
  }

  // Returns the factors of the channels that are made, for all readers.
  NodeId factors_of(const ChannelReaders& all, const SharedChannels& heads) {
    double alpha = 0;
    NodeId of_weights = kNoNode;
    std::vector<float> of_x;
    std::map<NodeId, NodeId> copies;
    for (const auto& [reader, value] : all.readers) {
      alpha = std::max(alpha, alpha_of(reader));
      const std::vector<float>& saw = sizes_at(reader);
      of_x.resize(saw.size());
      std::ranges::transform(saw, of_x, of_x.begin(), [](float a, float b) { return std::max(a, b); });
      const NodeId columns = sizes_of_columns(graph_, copy_constant(graph_, graph_[reader].operands[1], copies));
      of_weights = of_weights == kNoNode ? columns : graph_.add(Binary{BinaryKind::max}, {of_weights, columns});
    }
    return smoothing_factors(graph_, heads.largest(graph_, sizes_of_x(graph_, std::move(of_x))),
                             heads.largest(graph_, of_weights), alpha);
  }
  void multiply_weights(const ChannelReaders& all, NodeId factors) {
    for (const auto& [reader, value] : all.readers) {
      Insertion here(graph_, reader);
      graph_.set_operand(reader, 1, times_channels(graph_, graph_[reader].operands[1], factors));
    }
  }
  // Makes the products read `by` in place of the source.
  void read(const ChannelReaders& all, NodeId by) {
    std::map<NodeId, NodeId> moved{{all.source, by}};
    for (const auto& [reader, value] : all.readers) {
      Insertion here(graph_, reader);
      graph_.set_operand(reader, 0, view_on(graph_, moved, value));
    }
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  size_t products_ = 0;
};

}  // namespace

Status smooth_products(Graph& graph, PassContext& context) {
  if (context.channels.empty()) return {};
  return Smoother(graph, context).run();
}

}  // namespace rung::passes
